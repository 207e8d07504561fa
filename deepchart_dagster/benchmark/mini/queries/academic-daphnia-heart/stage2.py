"""Reference chart: heart rates as violins, the median of each group marked."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs


def rates_of(animals):
    return list(animals.values()) if isinstance(animals, dict) else animals


groups = J["der_data"]
names = [f"{copper}\nCV {found['cv_percent']:.1f} %" for copper, found in groups.items()]
places = range(1, len(groups) + 1)

figure, axes = plt.subplots(figsize=(8, 5.5), dpi=120, layout="constrained")
bodies = axes.violinplot([rates_of(J["src_data"][copper]) for copper in groups], places, widths=0.75, showextrema=False)
for body in bodies["bodies"]:
    body.set(facecolor="#8fb3cf", edgecolor="#295e8c", alpha=0.8)
medians = [found["median"] for found in groups.values()]
axes.scatter(places, medians, color="#cc7833", zorder=3, label="Median")
axes.set_xticks(places, names)
axes.set_title("Heart rate of water fleas after two hours in copper")
axes.set_xlabel("Copper and coefficient of variation")
axes.set_ylabel("Heart rate (beats per minute)")
axes.legend(loc="upper right", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: the cash conversion cycle and its parts, grouped by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PARTS = {
    "DIO": ("Days inventory (DIO)", "#8fb3cf"),
    "DSO": ("Days sales (DSO)", "#d9a066"),
    "DPO": ("Days payable (DPO)", "#9c9c9c"),
    "CCC": ("Cash conversion cycle (CCC)", "#1f4e79"),
}
WIDTH = 0.2

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(9, 5.5), dpi=120, layout="constrained")
for index, (part, (label, color)) in enumerate(PARTS.items()):
    places = [position + (index - 1.5) * WIDTH for position in range(len(years))]
    bars = axes.bar(places, [J["der_data"][year][part] for year in years], WIDTH, label=label, color=color)
    if part == "CCC":
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=9)
axes.set_xticks(range(len(years)), years)
axes.set_title("Marrow Bay Foods: cash conversion cycle")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Days")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False, fontsize=9)
axes.margins(y=0.12)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

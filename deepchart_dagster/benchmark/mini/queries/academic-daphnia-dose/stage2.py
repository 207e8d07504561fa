"""Reference chart: immobile water fleas against copper, with the fitted curve of each water."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

J = __J__  # noqa: F821 - filled in before the program runs

COLORS = ("#295e8c", "#cc7833", "#5c945c")

figure, axes = plt.subplots(figsize=(8.5, 5.5), dpi=120, layout="constrained")
for color, (water, found) in zip(COLORS, J["der_data"].items(), strict=False):
    doses = [float(dose) for dose in found["response"]]
    means = [point["mean_percent"] for point in found["response"].values()]
    errors = [point["sem_percent"] for point in found["response"].values()]
    axes.errorbar(doses, means, yerr=errors, fmt="o", capsize=3, color=color, label=water)
    if "fit" in found:
        fit = found["fit"]
        along = np.geomspace(4, 200, 80)
        curve = 100 / (1 + np.exp(-fit["slope"] * (np.log10(along) - np.log10(fit["EC50"]))))
        axes.plot(along, curve, color=color, label=f"{water}, fit: EC50 = {fit['EC50']:.1f} µg/L")
axes.set_xscale("log")
axes.set_xticks([5, 10, 20, 40, 80, 160], ["5", "10", "20", "40", "80", "160"])
axes.minorticks_off()
axes.set_ylim(-4, 104)
axes.set_title("Immobile water fleas after 48 hours in copper")
axes.set_xlabel("Copper (µg/L)")
axes.set_ylabel("Immobile animals (%)")
axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

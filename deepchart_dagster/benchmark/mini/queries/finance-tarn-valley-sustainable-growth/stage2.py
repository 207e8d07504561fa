"""Reference chart: return on equity and sustainable growth, grouped by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

MEASURES = {"ROE (%)": ("Return on equity", "#b9b9b9"), "SGR (%)": ("Sustainable growth rate", "#5a7d4f")}
WIDTH = 0.36

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(8.5, 5.2), dpi=120, layout="constrained")
for index, (measure, (label, color)) in enumerate(MEASURES.items()):
    places = [position + (index - 0.5) * WIDTH for position in range(len(years))]
    bars = axes.bar(places, [J["der_data"][year][measure] for year in years], WIDTH, label=label, color=color)
    axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=9)
axes.set_xticks(range(len(years)), years)
axes.set_title("Tarn Valley Paper: sustainable growth")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Percent")
axes.margins(y=0.1)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: economic value added on top of the charge for capital."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PARTS = {"Capital charge": "#b9b9b9", "EVA": "#9cc08c"}

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(7.5, 5.5), dpi=120, layout="constrained")
bases = [0.0] * len(years)
for part, color in PARTS.items():
    values = [J["der_data"][year][part] for year in years]
    bars = axes.bar(years, values, 0.5, bottom=bases, color=color, label=part)
    axes.bar_label(bars, fmt="%.1f", label_type="center")
    bases = [base + value for base, value in zip(bases, values, strict=True)]
for year, top in zip(years, bases, strict=True):
    axes.annotate(f"NOPAT {top:.1f}", (year, top), textcoords="offset points", xytext=(0, 5), ha="center")
axes.set_title("Halden Instruments: economic value added")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Millions of dollars")
axes.margins(x=0.12, y=0.12)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

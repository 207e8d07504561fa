"""Reference chart: what counts towards net-net working capital, what is owed, and what is left."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PARTS = {
    "Cash and securities": "#3b6e8f",
    "Discounted receivables": "#8fb3cf",
    "Discounted inventories": "#d3e0ea",
}

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(8.5, 5.8), dpi=120, layout="constrained")
bases = [0.0] * len(years)
for part, color in PARTS.items():
    values = [J["der_data"][year][part] for year in years]
    axes.bar(years, values, 0.5, bottom=bases, color=color, label=part)
    bases = [base + value for base, value in zip(bases, values, strict=True)]
owed = [-J["src_data"]["Total liabilities"][year] for year in years]
axes.bar(years, owed, 0.5, color="#c98b7b", label="Total liabilities")
left = [J["der_data"][year]["NNWC"] for year in years]
axes.plot(years, left, linestyle="none", marker="D", color="#111111", label="NNWC")
box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
for year, value in zip(years, left, strict=True):
    axes.annotate(f"{value:,.0f}", (year, value), textcoords="offset points", xytext=(0, 8), ha="center", bbox=box)
axes.axhline(0, color="#444444", linewidth=0.8)
axes.set_title("Quillon Therapeutics: net-net working capital")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Thousands of dollars")
axes.yaxis.set_major_formatter("{x:,.0f}")
axes.margins(x=0.12, y=0.08)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False, fontsize=9)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: EBITDA by fiscal year, stacked from what it is the sum of."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PARTS = {
    "Net income": "#1f4e79",
    "Income taxes": "#5b87ad",
    "Interest expense": "#a9c3da",
    "Depreciation": "#d9a066",
    "Amortization": "#f0d9b5",
}

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(9, 5.8), dpi=120, layout="constrained")
bases = [0.0] * len(years)
for part, color in PARTS.items():
    values = [J["src_data"][part][year] for year in years]
    axes.bar(years, values, 0.6, bottom=bases, color=color, label=part)
    bases = [base + value for base, value in zip(bases, values, strict=True)]
for year, top in zip(years, bases, strict=True):
    ebitda = J["der_data"][year]["EBITDA"]
    axes.annotate(f"{ebitda:,.0f}", (year, top), textcoords="offset points", xytext=(0, 5), ha="center")
axes.set_title("Marrow Bay Foods: EBITDA")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Millions of dollars")
axes.margins(x=0.08, y=0.1)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=5, frameon=False, fontsize=9)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

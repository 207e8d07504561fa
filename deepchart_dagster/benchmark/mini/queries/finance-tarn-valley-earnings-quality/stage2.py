"""Reference chart: cash flow and income over assets, and the spread between them."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

LINES = {
    "Cash flow / assets (%)": ("Operating cash flow", "#295e8c"),
    "Net income / assets (%)": ("Net income", "#cc7833"),
}

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(8.5, 5.5), dpi=120, layout="constrained")
cash, income = ([J["der_data"][year][measure] for year in years] for measure in LINES)
axes.fill_between(years, cash, income, color="#e6ebf0", label="Spread")
for (label, color), values in zip(LINES.values(), (cash, income), strict=True):
    axes.plot(years, values, marker="o", linewidth=2, color=color, label=label)
for index, (year, high, low) in enumerate(zip(years, cash, income, strict=True)):
    spread = f"{J['der_data'][year]['Spread (%)']:.2f}"
    inwards = 20 if index == 0 else -20 if index == len(years) - 1 else 0
    middle = (year, (high + low) / 2)
    axes.annotate(spread, middle, textcoords="offset points", xytext=(inwards, 0), ha="center", va="center")
axes.set_title("Tarn Valley Paper: earnings quality spread")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Percent of average total assets")
axes.set_ylim(min(0, 1.2 * min(*income, *cash)), 1.15 * max(1, *income, *cash))
axes.margins(x=0.12)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

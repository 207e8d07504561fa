"""Reference chart: the points of the Piotroski F-Score by group of tests."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

GROUPS = {"Profitability": "#295e8c", "Leverage and liquidity": "#d9a066", "Efficiency": "#7fa36b"}

years = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(8, 5.5), dpi=120, layout="constrained")
bases = [0.0] * len(years)
for group, color in GROUPS.items():
    points = [J["der_data"][year][group] for year in years]
    axes.bar(years, points, 0.5, bottom=bases, color=color, edgecolor="white", label=group)
    bases = [base + value for base, value in zip(bases, points, strict=True)]
for year, top in zip(years, bases, strict=True):
    axes.annotate(
        f"{J['der_data'][year]['F-Score']:.0f}", (year, top), textcoords="offset points", xytext=(0, 5), ha="center"
    )
axes.set_title("Halden Instruments: Piotroski F-Score")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Points")
axes.set_ylim(0, 9)
axes.set_yticks(range(10))
axes.margins(x=0.12)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: operating cash flow over net income by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

years = sorted(J["der_data"])
ratios = [J["der_data"][year]["Quality of income ratio"] for year in years]

figure, axes = plt.subplots(figsize=(8, 5), dpi=120, layout="constrained")
axes.axhline(1, color="#8c8c8c", linestyle="--", linewidth=1.2, label="Cash equals income")
axes.plot(years, ratios, marker="s", color="#5a7d4f", linewidth=2, label="Quality of income ratio")
for year, ratio in zip(years, ratios, strict=True):
    above = 9 if ratio > min(ratios) else -17  # below the lowest point, where no line runs through the label
    axes.annotate(f"{ratio:.2f}", (year, ratio), textcoords="offset points", xytext=(0, above), ha="center")
axes.set_title("Marrow Bay Foods: quality of income ratio")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Operating cash flow / net income")
axes.set_ylim(min(0, 1.2 * min(ratios)), 1.25 * max(1, *ratios))
axes.margins(x=0.1)
axes.legend(loc="lower left", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

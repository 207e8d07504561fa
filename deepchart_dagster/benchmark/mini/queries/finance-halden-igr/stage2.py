"""Reference chart: internal growth rate by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

years = sorted(J["der_data"])
rates = [J["der_data"][year]["Internal growth rate (%)"] for year in years]

figure, axes = plt.subplots(figsize=(8, 5), dpi=120, layout="constrained")
axes.plot(years, rates, marker="o", color="#295e8c", linewidth=2, label="Internal growth rate")
for year, rate in zip(years, rates, strict=True):
    above = 9 if rate > min(rates) else -17  # below the lowest point, where no line runs through the label
    axes.annotate(f"{rate:.2f}", (year, rate), textcoords="offset points", xytext=(0, above), ha="center")
axes.set_title("Halden Instruments: internal growth rate")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Internal growth rate (%)")
axes.set_ylim(min(0, 1.2 * min(rates)), max(0, 1.2 * max(rates)) or 1)
axes.margins(x=0.1)
axes.grid(axis="y", alpha=0.3)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

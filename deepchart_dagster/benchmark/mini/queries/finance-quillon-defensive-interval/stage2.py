"""Reference chart: the defensive interval ratio by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

years = sorted(J["der_data"])
days = [J["der_data"][year]["DIR (days)"] for year in years]

figure, axes = plt.subplots(figsize=(8, 5), dpi=120, layout="constrained")
axes.fill_between(years, days, color="#cfe3e3")
axes.plot(years, days, marker="o", color="#2f6f70", linewidth=2, label="Defensive interval ratio")
for year, value in zip(years, days, strict=True):
    axes.annotate(f"{value:.0f}", (year, value), textcoords="offset points", xytext=(0, 9), ha="center")
axes.set_title("Quillon Therapeutics: defensive interval ratio")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Days")
axes.set_ylim(min(0, 1.2 * min(days)), 1.2 * max(1, *days))
axes.margins(x=0.08)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

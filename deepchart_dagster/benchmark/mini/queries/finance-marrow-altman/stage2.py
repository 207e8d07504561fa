"""Reference chart: the Altman Z-Score by fiscal year before its three zones."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

DISTRESS, SAFE = 1.23, 2.90

years = sorted(J["der_data"])
scores = [J["der_data"][year]["Z"] for year in years]
top = 1.15 * max(SAFE, *scores)

figure, axes = plt.subplots(figsize=(8, 5.5), dpi=120, layout="constrained")
axes.axhspan(0, DISTRESS, color="#f3d3cd", label="Distress (below 1.23)")
axes.axhspan(DISTRESS, SAFE, color="#ececec", label="Grey zone")
axes.axhspan(SAFE, top, color="#d8e8d0", label="Safe (above 2.90)")
axes.plot(years, scores, marker="o", color="#222222", linewidth=2, label="Z-Score")
for year, score in zip(years, scores, strict=True):
    axes.annotate(f"{score:.2f}", (year, score), textcoords="offset points", xytext=(0, 10), ha="center")
axes.set_title("Marrow Bay Foods: Altman Z-Score (Z′)")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Z-Score")
axes.set_ylim(0, top)
axes.margins(x=0.1)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

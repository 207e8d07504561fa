"""Reference chart: odds ratios with their confidence intervals, pond by pond."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

ponds = list(J["der_data"])[::-1]
effects = [J["der_data"][pond] for pond in ponds]
ratios = [effect["odds_ratio"] for effect in effects]
below = [effect["odds_ratio"] - effect["ci_low"] for effect in effects]
above = [effect["ci_high"] - effect["odds_ratio"] for effect in effects]

figure, axes = plt.subplots(figsize=(8, 5), dpi=120, layout="constrained")
rows = range(len(ponds))
axes.errorbar(
    ratios, rows, xerr=[below, above], fmt="none", ecolor="#6d7f8f", capsize=4, label="95 % confidence interval"
)
axes.scatter(ratios, rows, marker="s", s=55, color="#295e8c", zorder=3, label="Odds ratio")
axes.axvline(1, color="#999999", linestyle="--", linewidth=1)
for row, effect in zip(rows, effects, strict=True):
    text = f"{effect['odds_ratio']:.2f} [{effect['ci_low']:.2f}, {effect['ci_high']:.2f}]"
    axes.annotate(text, (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=9, annotation_clip=False)
axes.set_xscale("log")
axes.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
axes.minorticks_off()
axes.set_yticks(rows, ponds)
axes.set_title("Infection of water fleas with copper against without")
axes.set_xlabel("Odds ratio (logarithmic scale)")
axes.set_ylabel("Pond")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=9)
axes.margins(y=0.08)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

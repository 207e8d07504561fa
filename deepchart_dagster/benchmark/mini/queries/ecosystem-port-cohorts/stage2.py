"""Reference chart: shares of what became of companies, a bar for each cohort."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

COLORS = {"Independent": "#295e8c", "Bought": "#5c945c", "Listed": "#e0b64c", "Closed": "#b5b5b5"}

cohorts = sorted(J["der_data"])
figure, axes = plt.subplots(figsize=(9, 6), dpi=120, layout="constrained")
bottoms = [0.0] * len(cohorts)
for state, color in COLORS.items():
    shares = [J["der_data"][cohort].get(state, 0) for cohort in cohorts]
    axes.bar(cohorts, shares, 0.65, bottom=bottoms, color=color, label=state)
    for place, (bottom, share) in enumerate(zip(bottoms, shares, strict=True)):
        if share >= 3:
            text_color = "white" if state in ("Independent", "Bought") else "black"
            axes.text(
                place, bottom + share / 2, f"{share:.1f} %", ha="center", va="center", color=text_color, fontsize=9
            )
    bottoms = [bottom + share for bottom, share in zip(bottoms, shares, strict=True)]
axes.set_title("What became of companies, three coasts together")
axes.set_xlabel("Cohort (years of foundation)")
axes.set_ylabel("Share of the cohort (%)")
axes.set_ylim(0, 100)
axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

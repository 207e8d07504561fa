"""Reference chart: months of cash that are left, by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

ENOUGH = 24

years = sorted(J["der_data"], reverse=True)
months = [J["der_data"][year]["Runway (months)"] for year in years]

figure, axes = plt.subplots(figsize=(8.5, 4.5), dpi=120, layout="constrained")
bars = axes.barh(years, months, 0.55, color="#4f8a8b", label="Runway")
axes.bar_label(bars, fmt="%.1f", padding=4)
axes.axvline(ENOUGH, color="#b3521e", linestyle="--", linewidth=1.2, label=f"{ENOUGH} months")
axes.set_title("Quillon Therapeutics: cash burn runway at the end of the year")
axes.set_xlabel("Months")
axes.set_ylabel("Fiscal year")
axes.set_xlim(0, 1.15 * max(ENOUGH, *months))
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

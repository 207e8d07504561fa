"""Reference chart: ports from their rank of 2020 to that of 2024."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

GAINED, LOST, SAME = "#5c945c", "#cc7833", "#8a8a8a"

figure, axes = plt.subplots(figsize=(8, 7), dpi=120, layout="constrained")
for port, found in J["der_data"].items():
    ranks, gained = [found["rank_2020"], found["rank_2024"]], found["places_gained"]
    color = GAINED if gained > 0 else LOST if gained < 0 else SAME
    axes.plot([2020, 2024], ranks, color=color, marker="o", linewidth=2, label=port)
    axes.text(2019.85, ranks[0], port, ha="right", va="center")
    axes.text(2024.15, ranks[1], f"{port}  {found['growth_percent']:+.0f} %", ha="left", va="center")
axes.set_xlim(2018.6, 2025.9)
axes.set_xticks([2020, 2024], ["2020", "2024"])
axes.set_yticks(range(1, len(J["der_data"]) + 1))
axes.invert_yaxis()
axes.set_title("Ports by capital raised: places gained (green) and lost (orange), growth in %")
axes.set_xlabel("Year")
axes.set_ylabel("Rank (1 = most capital)")
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: hours of dew by month around a circle."""

import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

months = J["der_data"]
hours = [month["mean_hours"] for month in months.values()]
angles = [2 * math.pi * place / len(months) for place in range(len(months))]

figure, axes = plt.subplots(figsize=(7.5, 7), dpi=120, layout="constrained", subplot_kw={"projection": "polar"})
axes.bar(angles, hours, width=0.45, color="#295e8c", label="Mean of two years")
axes.set_theta_zero_location("N")
axes.set_theta_direction(-1)
axes.set_axisbelow(True)
axes.set_xticks(angles, months)
axes.tick_params(axis="x", pad=20)
axes.set_ylim(0, 1.22 * max(hours))
axes.set_yticks([150, 200], ["150 h", "200 h"], color="#666666", fontsize=8)
axes.set_rlabel_position(15)
for angle, month in zip(angles, months.values(), strict=True):
    axes.text(
        angle,
        month["mean_hours"] + 26,
        f"{month['share_percent']:.1f} %",
        ha="center",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
axes.set_title("Hours of dew on roof lichens by month, with the share of the year", pad=28)
axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.22), frameon=False)
figure.savefig(sys.argv[1])

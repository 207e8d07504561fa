"""Reference chart: two ranks for each city, joined by a line."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

cities = sorted(J["der_data"], key=lambda city: (J["der_data"][city]["rank_gap"], city))
funding = [J["der_data"][city]["rank_by_funding"] for city in cities]
engineers = [J["der_data"][city]["rank_by_engineers"] for city in cities]
rows = range(len(cities))

figure, axes = plt.subplots(figsize=(9, 6.5), dpi=120, layout="constrained")
axes.hlines(rows, funding, engineers, color="#b5b5b5", linewidth=2.5, zorder=1)
axes.scatter(engineers, rows, s=110, color="#cc7833", label="Rank by engineers", zorder=2)
axes.scatter(funding, rows, s=40, color="#295e8c", label="Rank by funding 2024", zorder=3)
axes.set_yticks(rows, cities)
axes.set_xticks(range(1, len(cities) + 1))
axes.set_title("Rank by funding and rank by engineers")
axes.set_xlabel("Rank (1 = largest)")
axes.set_ylabel("City")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, frameon=False)
axes.grid(axis="x", alpha=0.25)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

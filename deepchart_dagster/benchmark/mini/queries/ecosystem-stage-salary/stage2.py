"""Reference chart: premiums over the pay of seed companies, cities by stages."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

STAGES = ("Series A", "Series B", "Series C", "Series D")

cities = sorted(J["der_data"], key=lambda city: -J["der_data"][city].get("Series D", 0))
premiums = [[J["der_data"][city].get(stage, float("nan")) for stage in STAGES] for city in cities]
high = max(premium for row in premiums for premium in row if premium == premium)

figure, axes = plt.subplots(figsize=(8, 7.5), dpi=120, layout="constrained")
image = axes.imshow(premiums, cmap="YlGnBu", vmin=0, vmax=high, aspect="auto")
axes.set_xticks(range(len(STAGES)), STAGES)
axes.set_yticks(range(len(cities)), cities)
for row, line in enumerate(premiums):
    for column, premium in enumerate(line):
        color = "white" if premium > 0.6 * high else "black"
        axes.text(column, row, f"{premium:.1f} %", ha="center", va="center", color=color)
axes.set_title("Salary of engineers above that of seed companies")
axes.set_xlabel("Stage")
axes.set_ylabel("City")
figure.colorbar(image, ax=axes, label="Premium over the seed salary of the city (%)")
figure.savefig(sys.argv[1])

"""Reference chart: cities by engineers and by patents for a thousand of them."""

import sys
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

cities = [city for city in J["der_data"] if "engineers" in J["src_data"].get(city, {})]
engineers = [J["src_data"][city]["engineers"] for city in cities]
rates = [J["der_data"][city]["patents_per_1000_engineers"] for city in cities]
middle = median(rates)

figure, axes = plt.subplots(figsize=(9, 6), dpi=120, layout="constrained")
axes.scatter(engineers, rates, s=45, color="#295e8c", label="City")
axes.axhline(middle, color="#999999", linestyle="--", linewidth=1, label=f"Median of the cities: {middle:.1f}")
for city, x, y in zip(cities, engineers, rates, strict=True):
    axes.annotate(city, (x, y), (6, 5), textcoords="offset points", fontsize=9)
axes.set_title("Patents of 2024 and the engineers of a city")
axes.set_xlabel("Engineers in the labour market (people)")
axes.set_ylabel("Patents granted per 1,000 engineers")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
axes.margins(0.12)
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

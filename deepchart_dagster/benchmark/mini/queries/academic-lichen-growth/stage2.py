"""Reference chart: growth against humidity with a regression line for each side."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

COLORS = {"North": "#295e8c", "South": "#cc7833"}

figure, axes = plt.subplots(figsize=(8.5, 5.5), dpi=120, layout="constrained")
for side, line in J["der_data"].items():
    humidity, growth = J["src_data"][side]["humidity"], J["src_data"][side]["growth"]
    ends = [min(humidity), max(humidity)]
    fit = f"{side}, fit: {line['slope']:.3f} mm per point, R² = {line['r_squared']:.2f}"
    axes.scatter(humidity, growth, color=COLORS[side], label=f"{side}-facing thalli")
    axes.plot(ends, [line["intercept"] + line["slope"] * x for x in ends], color=COLORS[side], label=fit)
axes.set_title("Growth of roof lichens and humidity at the tile")
axes.set_xlabel("Mean relative humidity (%)")
axes.set_ylabel("Radial growth (mm per year)")
axes.legend(loc="upper left", frameon=False, fontsize=9)
axes.margins(y=0.18)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

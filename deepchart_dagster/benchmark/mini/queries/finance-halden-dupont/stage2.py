"""Reference chart: the parts of the return on equity by fiscal year."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PANELS = {
    "Percent": {"Return on equity (%)": "#1f4e79", "Net profit margin (%)": "#cc7833"},
    "Multiple": {"Equity multiplier": "#5a7d4f", "Asset turnover": "#8a5a83"},
}

years = sorted(J["der_data"])
figure, panels = plt.subplots(1, 2, figsize=(10, 5), dpi=120, layout="constrained")
for axes, (unit, measures) in zip(panels, PANELS.items(), strict=True):
    highest = 0.0
    for above, (measure, color) in zip((8, -16), measures.items(), strict=True):  # the upper line is named first
        values = [J["der_data"][year][measure] for year in years]
        highest = max(highest, *values)
        axes.plot(years, values, marker="o", linewidth=2, color=color, label=measure.removesuffix(" (%)"))
        for year, value in zip(years, values, strict=True):
            axes.annotate(f"{value:.2f}", (year, value), textcoords="offset points", xytext=(0, above), ha="center")
    axes.set_xlabel("Fiscal year")
    axes.set_ylabel(unit)
    axes.set_ylim(0, 1.15 * highest or 1)
    axes.margins(x=0.12)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
figure.suptitle("Halden Instruments: DuPont return on equity")
figure.savefig(sys.argv[1])

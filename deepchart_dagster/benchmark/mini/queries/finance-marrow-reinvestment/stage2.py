"""Reference chart: what was reinvested as bars and its share of NOPAT as a line."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

PARTS = {"Net capital expenditures": "#295e8c", "Change in working capital": "#a9c3da"}

years = sorted(J["der_data"])
figure, amounts = plt.subplots(figsize=(8.5, 5.8), dpi=120, layout="constrained")
above, below = [0.0] * len(years), [0.0] * len(years)
handles = []
for part, color in PARTS.items():
    values = [J["der_data"][year][part] for year in years]
    bases = [high if value >= 0 else low for value, high, low in zip(values, above, below, strict=True)]
    handles.append(amounts.bar(years, values, 0.5, bottom=bases, color=color, label=f"{part} (left axis)"))
    above = [high + max(0, value) for value, high in zip(values, above, strict=True)]
    below = [low + min(0, value) for value, low in zip(values, below, strict=True)]
amounts.axhline(0, color="#444444", linewidth=0.8)
amounts.set_xlabel("Fiscal year")
amounts.set_ylabel("Millions of dollars")
amounts.spines["top"].set_visible(False)

rates = amounts.twinx()
shares = [J["der_data"][year]["Reinvestment rate (%)"] for year in years]
handles += rates.plot(years, shares, marker="o", linewidth=2, color="#b3521e", label="Reinvestment rate (right axis)")
for year, share in zip(years, shares, strict=True):
    away = 9 if share >= 0 else -18  # from the bars
    rates.annotate(f"{share:.1f} %", (year, share), textcoords="offset points", xytext=(0, away), ha="center")
rates.set_ylabel("Reinvestment rate (%)")
rates.spines["top"].set_visible(False)

# Both axes have their zero at the same height; the line passes the bars by.
highest, lowest = max(1, *above), min(0, *below)
per_amount = max(1, *map(abs, shares)) / (1.35 * max(highest, -lowest))
amounts.set_ylim(1.3 * min(lowest, min(shares) / per_amount) - 0.05 * highest, 1.65 * highest)
rates.set_ylim(*(limit * per_amount for limit in amounts.get_ylim()))
amounts.set_title("Marrow Bay Foods: reinvestment rate")
amounts.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False, fontsize=9)
figure.savefig(sys.argv[1])

"""Reference chart: NOPAT as bars and the return on invested capital as a line."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

years = sorted(J["der_data"])
nopat = [J["der_data"][year]["NOPAT"] for year in years]
returns = [J["der_data"][year]["ROIC (%)"] for year in years]

figure, amounts = plt.subplots(figsize=(8.5, 5.5), dpi=120, layout="constrained")
bars = amounts.bar(years, nopat, 0.5, color="#a9c3da", label="NOPAT (left axis)")
amounts.bar_label(bars, fmt="%.0f", label_type="center")
amounts.set_xlabel("Fiscal year")
amounts.set_ylabel("NOPAT (millions of dollars)")
amounts.set_ylim(0, 1.5 * max(0, *nopat) or 1)
amounts.spines["top"].set_visible(False)

rates = amounts.twinx()
(line,) = rates.plot(years, returns, marker="o", linewidth=2, color="#b3521e", label="ROIC (right axis)")
for year, value in zip(years, returns, strict=True):
    above = 9 if value > min(returns) else -17  # below the lowest point, where no line runs through the label
    place = {"textcoords": "offset points", "xytext": (0, above), "ha": "center"}
    rates.annotate(f"{value:.2f}", (year, value), color="#b3521e", **place)
rates.set_ylabel("ROIC (%)")
rates.set_ylim(0, 1.2 * max(0, *returns) or 1)
rates.spines["top"].set_visible(False)

amounts.set_title("Halden Instruments: return on invested capital")
amounts.legend(handles=[bars, line], loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
figure.savefig(sys.argv[1])

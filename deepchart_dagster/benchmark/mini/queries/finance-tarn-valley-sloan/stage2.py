"""Reference chart: the Sloan ratio by fiscal year and the band that is held to be safe."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

SAFE = 10

years = sorted(J["der_data"])
ratios = [J["der_data"][year]["Sloan ratio (%)"] for year in years]

figure, axes = plt.subplots(figsize=(8, 5.2), dpi=120, layout="constrained")
axes.axhspan(-SAFE, SAFE, color="#e4eee0", label="−10 to 10 percent")
axes.axhline(0, color="#777777", linewidth=0.8)
axes.plot(years, ratios, marker="o", color="#7a3b69", linewidth=2, label="Sloan ratio")
for year, ratio in zip(years, ratios, strict=True):
    away = 10 if ratio >= 0 else -18  # from zero, where the line comes from
    axes.annotate(f"{ratio:.2f}", (year, ratio), textcoords="offset points", xytext=(0, away), ha="center")
axes.set_title("Tarn Valley Paper: Sloan ratio")
axes.set_xlabel("Fiscal year")
axes.set_ylabel("Sloan ratio (%)")
reach = 1.25 * max(SAFE, *map(abs, ratios))
axes.set_ylim(-reach, reach)
axes.margins(x=0.1)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

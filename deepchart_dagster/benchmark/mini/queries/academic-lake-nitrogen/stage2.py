"""Reference chart: nitrogen from where it comes to where it goes, as bands between two stacked bars."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

J = __J__  # noqa: F821 - filled in before the program runs

COLORS = ("#295e8c", "#cc7833", "#5c945c", "#8c669e")
GREYS = ("#4d4d4d", "#7a7a7a", "#9e9e9e", "#bdbdbd")
WIDTH, GAP = 0.08, 3.0


def stacked(axes, place, totals, colors, side):
    """A bar for every total, one on the other with gaps; where each begins."""
    starts, height = {}, 0.0
    for color, (name, total) in zip(colors, totals.items(), strict=False):
        axes.bar([place], [total], WIDTH, bottom=[height], color=color, label=name)
        at, alignment = (place - WIDTH, "right") if side == "left" else (place + WIDTH, "left")
        axes.text(at, height + total / 2, f"{name}\n{total:.1f} t", ha=alignment, va="center")
        starts[name], height = height, height + total + GAP
    return starts


data = J["der_data"]
figure, axes = plt.subplots(figsize=(8.5, 6), dpi=120, layout="constrained")
left = stacked(axes, 0.0, data["total_by_source"], COLORS, "left")
right = stacked(axes, 1.0, data["total_by_sink"], GREYS, "right")
along = np.linspace(WIDTH / 2, 1 - WIDTH / 2, 40)
rise = (1 - np.cos(np.linspace(0, np.pi, 40))) / 2
for color, (source, sinks) in zip(COLORS, data["mean_flow"].items(), strict=False):
    for sink, flow in sinks.items():
        low = left[source] + (right[sink] - left[source]) * rise
        axes.fill_between(along, low, low + flow, color=color, alpha=0.45, linewidth=0)
        left[source] += flow
        right[sink] += flow
axes.set_xticks([0, 1], ["Where it comes from", "Where it goes"])
axes.set_yticks([])
axes.set_xlim(-0.3, 1.3)
axes.set_title(f"Nitrogen through the lake: {data['share_removed_percent']:.1f} % does not flow out")
axes.set_xlabel("Mean of three years")
axes.set_ylabel("Nitrogen (tonnes a year)")
axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
figure.savefig(sys.argv[1])

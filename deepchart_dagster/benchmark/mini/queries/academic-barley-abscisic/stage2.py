"""Reference chart: abscisic acid by treatment as boxes, p-values above them."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

groups = J["der_data"]
boxes = [
    {"label": name, "whislo": box["lowest"], "q1": box["q1"], "med": box["median"], "q3": box["q3"]}
    | {"whishi": box["highest"], "fliers": []}
    for name, box in groups.items()
]

figure, axes = plt.subplots(figsize=(8, 5.5), dpi=120, layout="constrained")
drawn = axes.bxp(boxes, widths=0.5, patch_artist=True, medianprops={"color": "#1c1c1c", "linewidth": 1.8})
for patch, color in zip(drawn["boxes"], ("#8fb3cf", "#a9cba9", "#e3b389", "#c3add0"), strict=False):
    patch.set_facecolor(color)
for place, box in enumerate(groups.values(), start=1):
    if "p_value" in box:
        axes.annotate(
            f"p = {box['p_value']:.2g}", (place, box["highest"]), (0, 6), textcoords="offset points", ha="center"
        )
axes.set_title("Abscisic acid of barley roots by treatment")
axes.set_xlabel("Treatment (p-values: Welch's t-test against well watered plants)")
axes.set_ylabel("Abscisic acid (ng per g fresh weight)")
axes.margins(y=0.12)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

"""Reference chart: standard scores of the lakes as a heatmap."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

lakes = sorted(J["der_data"], key=lambda lake: -J["der_data"][lake]["Phosphorus"])
quantities = list(J["der_data"][lakes[0]])
scores = [[J["der_data"][lake][quantity] for quantity in quantities] for lake in lakes]
reach = max(abs(score) for row in scores for score in row)

figure, axes = plt.subplots(figsize=(8.5, 6), dpi=120, layout="constrained")
image = axes.imshow(scores, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
axes.set_xticks(range(len(quantities)), quantities)
axes.set_yticks(range(len(lakes)), lakes)
for row, line in enumerate(scores):
    for column, score in enumerate(line):
        color = "white" if abs(score) > 0.62 * reach else "black"
        axes.text(column, row, f"{score:.2f}", ha="center", va="center", color=color)
axes.set_title("Lakes by six quantities, standard scores")
axes.set_xlabel("Quantity")
axes.set_ylabel("Lake")
figure.colorbar(image, ax=axes, label="Standard score (sample standard deviations)")
figure.savefig(sys.argv[1])

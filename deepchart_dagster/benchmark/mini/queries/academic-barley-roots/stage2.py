"""Reference chart: mean respiration with standard errors, grouped by line."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

TREATMENTS = {"Well watered": "#295e8c", "Drought": "#cc7833", "Drought + fungus": "#5c945c"}
WIDTH = 0.26

lines = list(J["der_data"])
figure, axes = plt.subplots(figsize=(8.5, 5.5), dpi=120, layout="constrained")
for index, (treatment, color) in enumerate(TREATMENTS.items()):
    shown = [
        (place, J["der_data"][line][treatment]) for place, line in enumerate(lines) if treatment in J["der_data"][line]
    ]
    axes.bar(
        [place + (index - 1) * WIDTH for place, _ in shown],
        [group["mean"] for _, group in shown],
        WIDTH,
        yerr=[group["sem"] for _, group in shown],
        capsize=4,
        label=treatment,
        color=color,
    )
axes.set_xticks(range(len(lines)), lines)
axes.set_title("Root respiration of barley by line and treatment")
axes.set_xlabel("Line")
axes.set_ylabel("Respiration (nmol O$_2$ per mg dry weight and minute)")
axes.legend(title="Treatment", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1])

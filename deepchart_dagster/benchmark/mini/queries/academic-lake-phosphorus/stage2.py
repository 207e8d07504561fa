"""Reference chart: groups of phosphorus fractions as an inner ring, the fractions as an outer one."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

J = __J__  # noqa: F821 - filled in before the program runs

SHADES = {
    "Mobile": ("#295e8c", "#5f8fb8", "#84abcc", "#abc8df"),
    "Permanent": ("#b8652a", "#d08d5c", "#dda77f", "#eac6a9"),
}
OTHER = ("#5c945c", "#86b386", "#a5c8a5", "#c5dcc5")

inner, outer = [], []  # name, share, colour
for group, found in J["der_data"].items():
    first, *shades = SHADES.get(group, OTHER)
    inner.append((group, found["share_percent"], first))
    for place, (fraction, share) in enumerate(found["fractions"].items()):
        outer.append((fraction, share, shades[place % len(shades)]))

figure, axes = plt.subplots(figsize=(8, 6.5), dpi=120, layout="constrained")
edge = {"edgecolor": "white", "linewidth": 1.5}
for ring, radius, width, distance in ((inner, 0.78, 0.5, 0.68), (outer, 1.08, 0.28, 1.1)):
    shares = [share for _, share, _ in ring]
    labels = [f"{name}\n{share:.1f} %" for name, share, _ in ring]
    wedges, texts = axes.pie(
        shares,
        labels=labels,
        colors=[color for *_, color in ring],
        radius=radius,
        labeldistance=distance,
        startangle=90,
        counterclock=False,
        wedgeprops={"width": width, **edge},
    )
    for text in texts if ring is inner else []:
        text.set(color="white", ha="center", va="center", fontweight="bold", fontsize=9)
axes.set_title("Phosphorus of the surface sediment in the wet year (% of the sum)", pad=18)
figure.savefig(sys.argv[1])

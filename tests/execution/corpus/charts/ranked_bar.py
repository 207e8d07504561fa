import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ranks = [("Python", 48.2), ("Rust", 82.2), ("Go", 62.1), ("TypeScript", 73.8)]
ranks.sort(key=lambda pair: -pair[1])
fig, ax = plt.subplots()
ax.barh(range(len(ranks)), [value for _, value in ranks])
ax.set_yticks(range(len(ranks)), [f"{place}. {name}" for place, (name, _) in enumerate(ranks, 1)])
ax.invert_yaxis()
plt.savefig(sys.argv[1], bbox_inches="tight")

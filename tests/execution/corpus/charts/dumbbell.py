import sys

import matplotlib.pyplot as plt

rows = {"Node": (40, 52), "Deno": (3, 8), "Bun": (1, 14)}
for place, (before, after) in enumerate(rows.values()):
    plt.plot([before, after], [place, place], color="silver", zorder=1)
    plt.scatter([before, after], [place, place], c=["tab:blue", "tab:orange"], s=90, zorder=2)
plt.yticks(range(len(rows)), rows)
plt.savefig(sys.argv[1])

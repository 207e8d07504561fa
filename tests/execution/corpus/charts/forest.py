import sys

import matplotlib.pyplot as plt

studies = [("Smith 2010", 0.8, 0.6, 1.1), ("Lee 2014", 1.2, 0.9, 1.6), ("Overall", 0.95, 0.8, 1.1)]
fig, ax = plt.subplots()
for row, (name, ratio, low, high) in enumerate(reversed(studies)):
    ax.errorbar(ratio, row, xerr=[[ratio - low], [high - ratio]], fmt="D" if name == "Overall" else "s", capsize=4)
ax.axvline(1, linestyle="--", color="grey")
ax.set_xscale("log")
ax.set_yticks(range(3), [name for name, *_ in reversed(studies)])
fig.savefig(sys.argv[1])

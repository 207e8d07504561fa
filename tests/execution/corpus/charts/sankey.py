import sys

import matplotlib.pyplot as plt
from matplotlib.sankey import Sankey

fig, ax = plt.subplots()
Sankey(ax=ax, flows=[1.0, -0.6, -0.25, -0.15], labels=["in", "a", "b", "c"], orientations=[0, 0, 1, -1], scale=1).finish()
fig.savefig(sys.argv[1])

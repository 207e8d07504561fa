import sys

import matplotlib.pyplot as plt
from matplotlib.gridspec import GridSpec

fig = plt.figure(constrained_layout=True)
grid = GridSpec(2, 3, figure=fig)
fig.add_subplot(grid[0, :]).plot([1, 2])
fig.add_subplot(grid[1, :2]).bar([1, 2], [3, 4])
fig.add_subplot(grid[1, 2]).pie([1, 2, 3])
fig.suptitle("Panels")
fig.savefig(sys.argv[1])

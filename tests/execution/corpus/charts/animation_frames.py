import sys

import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter

fig, ax = plt.subplots(figsize=(2, 2))
(line,) = ax.plot([0, 1], [0, 1])
FuncAnimation(fig, lambda frame: line.set_ydata([0, frame]), frames=2).save("a.gif", writer=PillowWriter(fps=2))
fig.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(1, 1))
ax.set_ylabel("a label that is much longer than its figure is high, and longer still")
ax.set_title("wide " * 30)
fig.tight_layout()
fig.savefig(sys.argv[1])

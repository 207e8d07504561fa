import sys

import matplotlib.pyplot as plt
import numpy as np

shares = np.array([[30, 25, 20], [45, 40, 50], [25, 35, 30]])
bottom = np.zeros(3)
fig, ax = plt.subplots()
for row, name in zip(shares, ("low", "middle", "high")):
    ax.bar(["2020", "2021", "2022"], row, bottom=bottom, label=name)
    bottom += row
ax.legend(loc="upper center", ncol=3)
fig.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt
import numpy as np

values = np.arange(20).reshape(4, 5) / 19
fig, ax = plt.subplots()
image = ax.imshow(values, cmap="coolwarm")
for (row, column), value in np.ndenumerate(values):
    ax.text(column, row, f"{value:.2f}", ha="center", va="center")
fig.colorbar(image, label="score")
fig.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(5)
points = rng.random((80, 3))
plt.scatter(points[:, 0], points[:, 1], c=points[:, 2], cmap="plasma", alpha=0.7, edgecolors="none")
plt.colorbar()
plt.savefig(sys.argv[1])

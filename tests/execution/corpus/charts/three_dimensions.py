import sys

import matplotlib.pyplot as plt
import numpy as np

x, y = np.meshgrid(np.linspace(-2, 2, 20), np.linspace(-2, 2, 20))
ax = plt.figure().add_subplot(projection="3d")
ax.plot_surface(x, y, np.exp(-(x**2) - y**2), cmap="viridis")
plt.savefig(sys.argv[1])

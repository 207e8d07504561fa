import sys

import matplotlib.pyplot as plt
import numpy as np

x, y = np.meshgrid(np.linspace(-3, 3, 12), np.linspace(-3, 3, 12))
plt.contourf(x, y, np.sin(x) * np.cos(y), levels=9)
plt.quiver(x, y, np.cos(x), np.sin(y))
plt.savefig(sys.argv[1])

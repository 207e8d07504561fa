import sys

import matplotlib.pyplot as plt
import numpy as np

values = [4, 7, 2, 9, 5, 6]
angles = np.linspace(0, 2 * np.pi, len(values), endpoint=False)
ax = plt.subplot(projection="polar")
ax.bar(angles, values, width=0.9, color=plt.cm.Set2(range(6)), edgecolor="white")
ax.set_xticks(angles, list("ABCDEF"))
ax.set_theta_zero_location("N")
plt.savefig(sys.argv[1])

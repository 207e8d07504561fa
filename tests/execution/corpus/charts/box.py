import sys

import matplotlib.pyplot as plt
import numpy as np

np.random.seed(3)
groups = [np.random.normal(mean, 1, 60) for mean in (2, 3, 5)]
fig, ax = plt.subplots()
ax.boxplot(groups, tick_labels=["a", "b", "c"], patch_artist=True, showmeans=True, notch=True)
plt.savefig(sys.argv[1])

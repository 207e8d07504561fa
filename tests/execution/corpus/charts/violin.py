import sys

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.RandomState(11)
plt.violinplot([rng.gamma(shape, 1, 80) for shape in (1, 2, 4)], showmedians=True, quantiles=[[0.25, 0.75]] * 3)
plt.savefig(sys.argv[1])

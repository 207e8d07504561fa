import sys

import numpy as np
import seaborn as sns
import matplotlib.pyplot as plt

rng = np.random.default_rng(1)
x = rng.normal(size=50)
sns.regplot(x=x, y=2 * x + rng.normal(size=50), ci=95, seed=4, n_boot=200)
plt.savefig(sys.argv[1])

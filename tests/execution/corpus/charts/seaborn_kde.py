import sys

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns

sns.kdeplot(np.random.default_rng(2).normal(size=100), fill=True)
sns.rugplot(np.random.default_rng(2).normal(size=20))
plt.savefig(sys.argv[1])

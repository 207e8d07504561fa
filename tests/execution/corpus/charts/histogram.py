import sys

import matplotlib.pyplot as plt
import numpy as np

counts, edges, _ = plt.hist(np.random.default_rng(9).exponential(size=300), bins="auto", density=True, alpha=0.6)
print(len(counts), edges[-1].round(6))
plt.savefig(sys.argv[1])

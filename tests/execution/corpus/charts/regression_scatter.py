import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

rng = np.random.default_rng(7)
x = np.linspace(0, 10, 40)
y = 1.7 * x + 3 + rng.normal(0, 1.5, 40)
fit = stats.linregress(x, y)
plt.scatter(x, y, s=18)
plt.plot(x, fit.slope * x + fit.intercept, "r-", label=f"$R^2$ = {fit.rvalue ** 2:.3f}, p = {fit.pvalue:.2e}")
plt.legend()
plt.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt
import numpy as np

plt.plot(np.log(np.arange(4)))
plt.yscale("log")
plt.savefig(sys.argv[1])

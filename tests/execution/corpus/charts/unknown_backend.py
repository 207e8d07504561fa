import sys

import matplotlib

matplotlib.use("TkAgg")
import matplotlib.pyplot as plt

plt.plot([1])
plt.savefig(sys.argv[1])

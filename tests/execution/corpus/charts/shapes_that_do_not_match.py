import sys

import matplotlib.pyplot as plt

plt.plot([1, 2, 3], [1, 2])
plt.savefig(sys.argv[1])

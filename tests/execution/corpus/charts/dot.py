import sys

import matplotlib.pyplot as plt

names, values = ["Alpha", "Beta", "Gamma", "Delta"], [3.2, 5.5, 4.1, 7.9]
plt.hlines(names, 0, values, color="lightgrey")
plt.plot(values, names, "o", markersize=10)
plt.xlim(0, 9)
plt.savefig(sys.argv[1])

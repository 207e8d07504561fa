import sys

import matplotlib.pyplot as plt

x, y, size = [10, 25, 40, 55], [3.1, 4.8, 2.2, 6.0], [120, 900, 300, 1500]
plt.scatter(x, y, s=size, alpha=0.5)
for label, a, b in zip("WXYZ", x, y):
    plt.annotate(label, (a, b), ha="center", va="center", fontweight="bold")
plt.savefig(sys.argv[1])

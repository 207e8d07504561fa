import sys

import matplotlib.pyplot as plt

plt.rcParams["font.family"] = "serif"
plt.title(r"$\alpha_{i}^{2} \leq \sum_{n=1}^{\infty} \frac{1}{n^2}$ – Größe, café, 收入")
plt.plot([1, 2])
plt.savefig(sys.argv[1])

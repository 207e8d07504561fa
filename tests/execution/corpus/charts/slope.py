import sys

import matplotlib.pyplot as plt

for name, before, after in [("A", 20, 35), ("B", 40, 30), ("C", 10, 28)]:
    plt.plot([0, 1], [before, after], marker="o")
    plt.text(-0.05, before, f"{name} {before}", ha="right")
    plt.text(1.05, after, f"{after} {name}")
plt.xticks([0, 1], ["2021", "2023"])
plt.xlim(-0.5, 1.5)
plt.savefig(sys.argv[1])

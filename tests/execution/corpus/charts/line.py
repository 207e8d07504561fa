import sys

import matplotlib.pyplot as plt

data = {"A": [1.2, 1.9, 2.4, 2.2], "B": [0.8, 1.1, 1.0, 1.6]}
for name, values in data.items():
    plt.plot([2018, 2019, 2020, 2021], values, marker="o", label=name)
plt.xticks([2018, 2019, 2020, 2021])
plt.grid(True, alpha=0.3)
plt.legend()
plt.title("Margin over time")
plt.savefig(sys.argv[1])

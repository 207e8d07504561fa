import sys

import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.pie([60, 40], radius=1, wedgeprops={"width": 0.3, "edgecolor": "w"}, labels=["north", "south"])
ax.pie([20, 25, 15, 30, 10], radius=0.7, wedgeprops={"width": 0.3, "edgecolor": "w"}, autopct="%1.0f%%")
ax.set(aspect="equal", title="Nested donut")
plt.savefig(sys.argv[1])

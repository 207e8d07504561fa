import sys

import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.bar(["a", "b"], [1, 2], no_such_option=3)
fig.savefig(sys.argv[1])

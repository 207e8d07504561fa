import sys

import matplotlib.pyplot as plt

print([name for name in plt.style.available if "ggplot" in name])
with plt.style.context(["ggplot", {"lines.linewidth": 4}]):
    plt.plot([3, 1, 2])
    plt.savefig(sys.argv[1])

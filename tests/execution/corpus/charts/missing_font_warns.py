import sys

import matplotlib.pyplot as plt

plt.rcParams["font.sans-serif"] = ["SimHei", "No Such Font"]
plt.title("plain")
plt.savefig(sys.argv[1])

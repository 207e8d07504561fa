import os
import sys

os.environ["MPLBACKEND"] = "svg"
import matplotlib.pyplot as plt

print(plt.get_backend())
plt.plot([1])
plt.savefig(sys.argv[1], format="png")

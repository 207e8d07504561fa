import sys

import matplotlib.pyplot as plt

for number in range(22):
    plt.figure()
plt.plot([1])
plt.savefig(sys.argv[1])

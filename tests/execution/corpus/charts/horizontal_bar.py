import sys

import matplotlib.pyplot as plt

items = sorted({"React": 44.7, "Vue": 17.6, "Angular": 18.2, "Svelte": 7.2}.items(), key=lambda item: item[1])
plt.figure(figsize=(8, 4))
plt.barh([name for name, _ in items], [value for _, value in items], color=plt.cm.viridis([0.1, 0.4, 0.6, 0.9]))
plt.xlabel("Share (%)")
plt.tight_layout()
plt.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt
import numpy as np

groups, series = ["Control", "Low", "High"], {"Week 1": [3.1, 4.2, 5.0], "Week 4": [3.3, 5.1, 6.8]}
x, width = np.arange(len(groups)), 0.38
fig, ax = plt.subplots(figsize=(7, 4.5))
for offset, (name, values) in enumerate(series.items()):
    ax.bar(x + (offset - 0.5) * width, values, width, yerr=0.2, capsize=3, label=name)
ax.set_xticks(x, groups)
ax.legend(title="Visit")
plt.tight_layout()
plt.savefig(sys.argv[1], dpi=120, bbox_inches="tight")

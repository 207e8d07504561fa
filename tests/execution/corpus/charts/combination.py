import sys

import matplotlib.pyplot as plt

fig, left = plt.subplots(figsize=(9, 5))
left.bar(["Q1", "Q2", "Q3", "Q4"], [120, 135, 128, 160], color="lightsteelblue", label="Sales")
right = left.twinx()
right.plot(["Q1", "Q2", "Q3", "Q4"], [8.1, 9.4, 7.7, 11.2], "o-", color="darkred", label="Growth (%)")
handles = [handle for ax in (left, right) for handle in ax.get_legend_handles_labels()[0]]
left.legend(handles, ["Sales", "Growth (%)"])
fig.tight_layout()
fig.savefig(sys.argv[1])

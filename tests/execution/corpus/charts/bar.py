import sys

import matplotlib.pyplot as plt

years, revenue = ["2019", "2020", "2021", "2022"], [70.7, 86.0, 117.9, 116.6]
fig, ax = plt.subplots(figsize=(8, 5))
bars = ax.bar(years, revenue, color="#4472c4")
ax.bar_label(bars, fmt="%.1f")
ax.set(title="Revenue", xlabel="Year", ylabel="USD billion")
fig.tight_layout()
fig.savefig(sys.argv[1], dpi=150)

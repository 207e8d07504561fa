import sys

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

sns.set_theme(style="whitegrid", palette="deep")
frame = pd.DataFrame({"year": [2020, 2020, 2021, 2021], "kind": ["x", "y"] * 2, "value": [3, 5, 4, 6]})
ax = sns.barplot(frame, x="year", y="value", hue="kind", errorbar=None)
ax.set_title("By kind")
plt.savefig(sys.argv[1], dpi=90)

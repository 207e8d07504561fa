import sys

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

frame = pd.DataFrame([[1, 0.3, -0.2], [0.3, 1, 0.5], [-0.2, 0.5, 1]], columns=list("abc"), index=list("abc"))
sns.heatmap(frame, annot=True, cmap="rocket", vmin=-1, vmax=1)
plt.tight_layout()
plt.savefig(sys.argv[1])

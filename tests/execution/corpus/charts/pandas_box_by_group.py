import sys

import matplotlib.pyplot as plt
import pandas as pd

pd.DataFrame({"g": list("abab"), "v": [1, 2, 3, 5]}).boxplot(column="v", by="g")
plt.suptitle("")
plt.savefig(sys.argv[1])

import sys

import matplotlib.pyplot as plt
import pandas as pd

pd.plotting.scatter_matrix(pd.DataFrame({"a": range(9), "b": [n * n for n in range(9)]}), diagonal="kde")
plt.savefig(sys.argv[1])

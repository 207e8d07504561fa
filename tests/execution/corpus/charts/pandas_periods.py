import sys

import matplotlib.pyplot as plt
import pandas as pd

series = pd.Series(range(8), index=pd.period_range("2020Q1", periods=8, freq="Q"))
series.plot(title="Quarters", style=".-")
plt.savefig(sys.argv[1])

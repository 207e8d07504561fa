import sys

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import pandas as pd

index = pd.date_range("2021-01-01", periods=60, freq="D")
fig, ax = plt.subplots()
ax.plot(index, range(60))
ax.xaxis.set_major_locator(mdates.MonthLocator())
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b %Y"))
fig.autofmt_xdate()
fig.savefig(sys.argv[1])

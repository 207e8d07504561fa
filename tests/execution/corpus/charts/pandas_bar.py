import sys

import pandas as pd

frame = pd.DataFrame({"2021": [3, 4, 5], "2022": [4, 3, 6]}, index=["a", "b", "c"])
frame.plot.bar(rot=0, figsize=(7, 4)).get_figure().savefig(sys.argv[1])

import sys

import pandas as pd
import seaborn as sns

frame = pd.DataFrame({"t": list(range(6)) * 2, "v": [1, 3, 2, 5, 4, 6, 2, 2, 3, 3, 5, 4], "s": ["p"] * 6 + ["q"] * 6})
sns.relplot(frame, x="t", y="v", col="s", kind="line").savefig(sys.argv[1])

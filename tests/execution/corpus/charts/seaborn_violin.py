import sys

import pandas as pd
import seaborn as sns

frame = pd.DataFrame({"g": list("aabbcc") * 8, "v": [n * 7 % 11 for n in range(48)]})
figure = sns.catplot(frame, x="g", y="v", kind="violin", inner="quart", height=4)
figure.savefig(sys.argv[1])

import json
import sys

import numpy as np
from scipy import stats

a, b = np.arange(12.0), np.arange(12.0) ** 1.1
results = [stats.ttest_ind(a, b), stats.spearmanr(a, b), stats.mannwhitneyu(a, b), stats.kstest(a, "norm")]
json.dump([[float(part) for part in result] for result in results], open(sys.argv[1], "w"))

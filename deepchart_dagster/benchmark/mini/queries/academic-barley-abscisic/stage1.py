"""Reference: abscisic acid of barley roots, quartiles by treatment and Welch's test against watered plants."""

import json
import statistics
import sys
from pathlib import Path

from scipy import stats

CONTROL = "Well watered"
SRC = {
    "Well watered": [34.3, 43.1, 46.5, 38.2, 33.7, 40.6, 43.6, 47.0],
    "Fungus alone": [37.7, 37.2, 49.2, 47.8, 54.2, 50.9, 44.4, 43.4],
    "Drought": [134.6, 91.7, 84.2, 78.9, 97.4, 98.2, 90.8, 95.1],
    "Drought + fungus": [71.3, 76.3, 81.2, 70.5, 46.5, 76.4, 51.0, 65.9],
}

DER = {}
for treatment, plants in SRC.items():
    q1, median, q3 = statistics.quantiles(plants, n=4, method="inclusive")
    DER[treatment] = {"lowest": min(plants), "q1": q1, "median": median, "q3": q3, "highest": max(plants)}
    if treatment != CONTROL:
        DER[treatment]["p_value"] = float(stats.ttest_ind(plants, SRC[CONTROL], equal_var=False).pvalue)

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

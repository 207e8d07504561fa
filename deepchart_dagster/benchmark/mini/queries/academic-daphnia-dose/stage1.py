"""Reference: water fleas in copper, immobile share by concentration, and EC50 and slope of each water.

The empirical logit of a concentration is ln((k + 0.5) / (n - k + 0.5)) of its k immobile among n animals.
"""

import json
import math
import statistics
import sys
from pathlib import Path

ANIMALS = 20
SRC = {
    "Soft water": {
        "5": [1, 1, 1, 2],
        "10": [5, 4, 2, 1],
        "20": [8, 9, 17, 15],
        "40": [16, 18, 19, 20],
        "80": [20, 19, 20, 20],
        "160": [20, 20, 20, 20],
    },
    "Hard water": {
        "5": [0, 0, 0, 0],
        "10": [0, 0, 0, 0],
        "20": [0, 2, 0, 1],
        "40": [6, 5, 8, 5],
        "80": [17, 17, 18, 14],
        "160": [19, 20, 20, 19],
    },
    "Peat water": {
        "5": [0, 0, 0, 0],
        "10": [0, 0, 0, 0],
        "20": [0, 0, 1, 1],
        "40": [1, 5, 5, 1],
        "80": [9, 11, 9, 9],
        "160": [16, 18, 17, 14],
    },
}

DER = {}
for water, vials_at in SRC.items():
    responses = {}
    for concentration, vials in vials_at.items():
        percents = [100 * immobile / ANIMALS for immobile in vials]
        sem = statistics.stdev(percents) / math.sqrt(len(percents))
        responses[concentration] = {"mean_percent": statistics.mean(percents), "sem_percent": sem}
    doses = [math.log10(float(concentration)) for concentration in vials_at]
    logits = [math.log((sum(k) + 0.5) / (ANIMALS * len(k) - sum(k) + 0.5)) for k in vials_at.values()]
    line = statistics.linear_regression(doses, logits)
    fit = {"EC50": 10 ** (-line.intercept / line.slope), "slope": line.slope}
    DER[water] = {"response": responses, "fit": fit}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

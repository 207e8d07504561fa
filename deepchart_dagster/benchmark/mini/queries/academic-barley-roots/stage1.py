"""Reference: root respiration of barley, mean and standard error by line and treatment."""

import json
import math
import statistics
import sys
from pathlib import Path

SRC = {
    "Wild type": {
        "Well watered": [7.84, 8.42, 8.23, 8.50, 8.71, 8.68],
        "Drought": [3.95, 4.40, 5.74, 4.71, 3.47, 3.35],
        "Drought + fungus": [7.85, 7.26, 7.49, 8.06, 7.20, 6.88],
    },
    "abp1 mutant": {
        "Well watered": [7.25, 8.63, 7.88, 6.59, 7.47, 8.94],
        "Drought": [3.28, 3.67, 3.24, 3.74, 3.80, 4.05],
        "Drought + fungus": [3.65, 4.23, 3.32, 3.93, 3.23, 4.65],
    },
    "Complemented line": {
        "Well watered": [8.25, 8.86, 7.54, 8.76, 7.89, 7.82],
        "Drought": [4.68, 5.51, 4.82, 4.67, 4.47, 4.06],
        "Drought + fungus": [6.65, 6.71, 8.22, 6.53, 6.10, 6.77],
    },
}

DER = {
    line: {
        treatment: {
            "mean": statistics.mean(plants),
            "sem": statistics.stdev(plants) / math.sqrt(len(plants)),
        }
        for treatment, plants in treatments.items()
    }
    for line, treatments in SRC.items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: heart rate of water fleas in copper, mean, standard deviation, median and coefficient of variation."""

import json
import statistics
import sys
from pathlib import Path

SRC = {
    "Control": [300, 323, 337, 354, 282, 296, 292, 305, 309, 283, 318, 280],
    "2 µg/L": [316, 277, 309, 313, 298, 285, 281, 271, 343, 318, 352, 312],
    "8 µg/L": [282, 246, 259, 209, 307, 307, 326, 325, 229, 172, 299, 279],
    "32 µg/L": [190, 192, 248, 280, 236, 199, 249, 258, 183, 246, 190, 222],
}

DER = {}
for copper, rates in SRC.items():
    mean, spread = statistics.mean(rates), statistics.stdev(rates)
    DER[copper] = {"mean": mean, "sd": spread, "median": statistics.median(rates), "cv_percent": 100 * spread / mean}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

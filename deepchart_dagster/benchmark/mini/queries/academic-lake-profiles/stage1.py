"""Reference: eight lakes, each quantity as standard scores over the lakes (sample standard deviation)."""

import json
import statistics
import sys
from pathlib import Path

SRC = {
    "Ardmere": {
        "Depth": 31.0,
        "Transparency": 5.49,
        "Phosphorus": 6.9,
        "Nitrogen": 158,
        "Chlorophyll": 3.7,
        "pH": 7.21,
    },
    "Blackwater": {
        "Depth": 6.4,
        "Transparency": 2.36,
        "Phosphorus": 36.2,
        "Nitrogen": 712,
        "Chlorophyll": 16.9,
        "pH": 7.87,
    },
    "Corrie": {"Depth": 42.0, "Transparency": 5.76, "Phosphorus": 6.6, "Nitrogen": 118, "Chlorophyll": 2.3, "pH": 7.33},
    "Drumlin": {
        "Depth": 11.8,
        "Transparency": 3.66,
        "Phosphorus": 16.6,
        "Nitrogen": 378,
        "Chlorophyll": 5.5,
        "pH": 7.32,
    },
    "Eskadale": {
        "Depth": 19.5,
        "Transparency": 3.89,
        "Phosphorus": 13.4,
        "Nitrogen": 246,
        "Chlorophyll": 6.1,
        "pH": 7.44,
    },
    "Fernhill": {
        "Depth": 4.2,
        "Transparency": 2.08,
        "Phosphorus": 33.3,
        "Nitrogen": 867,
        "Chlorophyll": 13.2,
        "pH": 7.79,
    },
    "Glasslough": {
        "Depth": 25.0,
        "Transparency": 3.54,
        "Phosphorus": 13.8,
        "Nitrogen": 311,
        "Chlorophyll": 7.1,
        "pH": 7.32,
    },
    "Heronmere": {
        "Depth": 8.9,
        "Transparency": 2.78,
        "Phosphorus": 25.7,
        "Nitrogen": 476,
        "Chlorophyll": 8.2,
        "pH": 7.50,
    },
}

DER = {lake: {} for lake in SRC}
for quantity in next(iter(SRC.values())):
    values = [lake[quantity] for lake in SRC.values()]
    mean, spread = statistics.mean(values), statistics.stdev(values)
    for name, lake in SRC.items():
        DER[name][quantity] = (lake[quantity] - mean) / spread

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: phosphorus of a lake's sediment, shares of six fractions and of the two groups they make."""

import json
import statistics
import sys
from pathlib import Path

SRC = {
    "Mobile": {
        "Loosely bound": [0.099, 0.105, 0.081, 0.080, 0.094],
        "Iron-bound": [0.747, 0.644, 0.521, 0.552, 0.608],
        "Organic": [0.484, 0.431, 0.412, 0.419, 0.441],
    },
    "Permanent": {
        "Aluminium-bound": [0.264, 0.291, 0.301, 0.352, 0.289],
        "Calcium-bound": [0.586, 0.454, 0.579, 0.533, 0.486],
        "Residual": [0.180, 0.201, 0.173, 0.204, 0.216],
    },
}

means = {
    group: {fraction: statistics.mean(cores) for fraction, cores in fractions.items()}
    for group, fractions in SRC.items()
}
total = sum(sum(fractions.values()) for fractions in means.values())
DER = {
    group: {
        "share_percent": 100 * sum(fractions.values()) / total,
        "fractions": {fraction: 100 * mean / total for fraction, mean in fractions.items()},
    }
    for group, fractions in means.items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

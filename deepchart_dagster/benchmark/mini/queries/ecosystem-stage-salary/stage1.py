"""Reference: what cities pay engineers above the salary of a seed company, by stage. EUR thousand and percent."""

import json
import sys
from pathlib import Path

SRC = {
    "Aarhus": {"Seed": 48.1, "Series A": 52.4, "Series B": 56.5, "Series C": 65.0, "Series D": 69.1},
    "Bergen": {"Seed": 50.4, "Series A": 53.1, "Series B": 61.8, "Series C": 66.2, "Series D": 76.0},
    "Copenhagen": {"Seed": 56.2, "Series A": 60.3, "Series B": 64.7, "Series C": 68.6, "Series D": 73.7},
    "Espoo": {"Seed": 53.0, "Series A": 60.4, "Series B": 69.5, "Series C": 73.8, "Series D": 81.6},
    "Gothenburg": {"Seed": 53.2, "Series A": 56.7, "Series B": 65.9, "Series C": 69.6, "Series D": 80.1},
    "Helsinki": {"Seed": 55.0, "Series A": 62.9, "Series B": 68.9, "Series C": 80.2, "Series D": 84.5},
    "Linköping": {"Seed": 49.6, "Series A": 56.1, "Series B": 59.3, "Series C": 65.6, "Series D": 74.4},
    "Lund": {"Seed": 51.0, "Series A": 57.1, "Series B": 60.4, "Series C": 66.9, "Series D": 76.3},
    "Oslo": {"Seed": 57.5, "Series A": 63.6, "Series B": 73.6, "Series C": 78.5, "Series D": 84.8},
    "Oulu": {"Seed": 45.0, "Series A": 49.3, "Series B": 57.6, "Series C": 65.4, "Series D": 73.4},
    "Reykjavik": {"Seed": 54.0, "Series A": 59.7, "Series B": 64.0, "Series C": 71.7, "Series D": 75.9},
    "Stockholm": {"Seed": 58.3, "Series A": 62.3, "Series B": 72.6, "Series C": 79.6, "Series D": 87.9},
    "Tampere": {"Seed": 45.1, "Series A": 52.0, "Series B": 60.1, "Series C": 69.2, "Series D": 75.4},
    "Trondheim": {"Seed": 50.0, "Series A": 57.2, "Series B": 63.6, "Series C": 70.6, "Series D": 77.6},
}

DER = {
    city: {stage: 100 * (salary / by_stage["Seed"] - 1) for stage, salary in by_stage.items() if stage != "Seed"}
    for city, by_stage in SRC.items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: hours of dew on a roof, mean of two years for each month and its share of the year."""

import json
import sys
from pathlib import Path

SRC = {
    "January": {"first_year": 60, "second_year": 63},
    "February": {"first_year": 79, "second_year": 73},
    "March": {"first_year": 97, "second_year": 102},
    "April": {"first_year": 107, "second_year": 126},
    "May": {"first_year": 143, "second_year": 130},
    "June": {"first_year": 140, "second_year": 111},
    "July": {"first_year": 104, "second_year": 107},
    "August": {"first_year": 159, "second_year": 166},
    "September": {"first_year": 159, "second_year": 167},
    "October": {"first_year": 224, "second_year": 197},
    "November": {"first_year": 139, "second_year": 142},
    "December": {"first_year": 94, "second_year": 84},
}

means = {month: (hours["first_year"] + hours["second_year"]) / 2 for month, hours in SRC.items()}
total = sum(means.values())
DER = {month: {"mean_hours": mean, "share_percent": 100 * mean / total} for month, mean in means.items()}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

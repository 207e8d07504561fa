"""Reference: Altman Z-Score of Marrow Bay Foods, 2020 to 2023. Source values in millions of dollars.

Z' = 0.717 X1 + 0.847 X2 + 3.107 X3 + 0.420 X4 + 0.998 X5, with the book value of equity in X4.
Source: Altman, Corporate Financial Distress, 1983; the score of 1968 needs a market value, which no statement shows.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net revenue": {"2020": 8954, "2021": 9312, "2022": 10268, "2023": 10791},
    "Operating income": {"2020": 1003, "2021": 952, "2022": 907, "2023": 1080},
    "Current assets": {"2020": 3081, "2021": 3219, "2022": 3750, "2023": 4051},
    "Current liabilities": {"2020": 1606, "2021": 1664, "2022": 1833, "2023": 1883},
    "Total assets": {"2020": 7831, "2021": 8198, "2022": 8780, "2023": 9073},
    "Total liabilities": {"2020": 3576, "2021": 3564, "2022": 3773, "2023": 3593},
    "Retained earnings": {"2020": 2880, "2021": 3332, "2022": 3726, "2023": 4237},
    "Shareholders’ equity": {"2020": 4255, "2021": 4634, "2022": 5007, "2023": 5480},
}

WEIGHTS = {"X1": 0.717, "X2": 0.847, "X3": 3.107, "X4": 0.420, "X5": 0.998}

DER = {}
for year, assets in SRC["Total assets"].items():
    ratios = {
        "X1": (SRC["Current assets"][year] - SRC["Current liabilities"][year]) / assets,
        "X2": SRC["Retained earnings"][year] / assets,
        "X3": SRC["Operating income"][year] / assets,
        "X4": SRC["Shareholders’ equity"][year] / SRC["Total liabilities"][year],
        "X5": SRC["Net revenue"][year] / assets,
    }
    DER[year] = {**ratios, "Z": sum(WEIGHTS[name] * ratio for name, ratio in ratios.items())}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: earnings quality spread of Tarn Valley Paper, 2022 to 2024. Source values in thousands of dollars.

Spread (%) = (operating cash flow − net income) / mean of total assets at the beginning and the end of the year.
Source: accruals over average total assets (Sloan, The Accounting Review, 1996) with the sign turned, as the published
benchmark computes it.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2022": 24394, "2023": 19160, "2024": 26168},
    "Total assets": {"2021": 414830, "2022": 447709, "2023": 447039, "2024": 467292},
    "Operating cash flow": {"2022": 43523, "2023": 57012, "2024": 64037},
}

DER = {}
for year, net_income in SRC["Net income"].items():
    average = (SRC["Total assets"][str(int(year) - 1)] + SRC["Total assets"][year]) / 2
    cash, income = SRC["Operating cash flow"][year] / average, net_income / average
    DER[year] = {
        "Average total assets": average,
        "Cash flow / assets (%)": 100 * cash,
        "Net income / assets (%)": 100 * income,
        "Spread (%)": 100 * (cash - income),
    }

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: sustainable growth rate of Tarn Valley Paper, 2021 to 2024. Source values in thousands of dollars.

SGR (%) = ROE × (1 − dividends / net income); ROE = net income / equity at the year's end. Dividends are positive here
and stand in parentheses in the statement.
Source: Higgins, How Much Growth Can a Firm Afford?, Financial Management, 1977.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2021": 24616, "2022": 24394, "2023": 19160, "2024": 26168},
    "Shareholders’ equity": {"2021": 229048, "2022": 245429, "2023": 257979, "2024": 275339},
    "Dividends paid": {"2021": 8643, "2022": 9126, "2023": 9358, "2024": 9742},
}

DER = {}
for year, net_income in SRC["Net income"].items():
    return_on_equity = net_income / SRC["Shareholders’ equity"][year]
    retention = 1 - SRC["Dividends paid"][year] / net_income
    DER[year] = {"ROE (%)": 100 * return_on_equity, "SGR (%)": 100 * return_on_equity * retention}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

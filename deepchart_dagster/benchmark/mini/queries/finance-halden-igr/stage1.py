"""Reference: internal growth rate of Halden Instruments, 2021 to 2024. Source values in millions of dollars.

IGR (%) = ROA × b / (1 − ROA × b); ROA = net income / total assets at the year's end, b = the share of income kept.
Source: Ross, Westerfield and Jaffe, Corporate Finance, on long-term planning and growth.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2021": 515, "2022": 529, "2023": 492, "2024": 677},
    "Total assets": {"2021": 5573, "2022": 6125, "2023": 6325, "2024": 6976},
    "Dividends paid": {"2021": 131, "2022": 146, "2023": 158, "2024": 173},
}

DER = {}
for year, net_income in SRC["Net income"].items():
    return_on_assets = net_income / SRC["Total assets"][year]
    retention = (net_income - SRC["Dividends paid"][year]) / net_income
    internal_growth = return_on_assets * retention / (1 - return_on_assets * retention)
    DER[year] = {"Internal growth rate (%)": 100 * internal_growth}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

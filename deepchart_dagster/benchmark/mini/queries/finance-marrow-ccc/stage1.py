"""Reference: cash conversion cycle of Marrow Bay Foods, 2020 to 2023. Source values in millions of dollars.

CCC (days) = DIO + DSO − DPO, with balances at the year's end and years of 365 days.
Source: Richards and Laughlin, A Cash Conversion Cycle Approach to Liquidity Analysis, Financial Management, 1980.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net revenue": {"2020": 8954, "2021": 9312, "2022": 10268, "2023": 10791},
    "Cost of sales": {"2020": 6537, "2021": 6894, "2022": 7793, "2023": 8046},
    "Inventories": {"2020": 1017, "2021": 1148, "2022": 1397, "2023": 1286},
    "Accounts receivable": {"2020": 806, "2021": 874, "2022": 1016, "2023": 1043},
    "Accounts payable": {"2020": 964, "2021": 1021, "2022": 1132, "2023": 1187},
}

DER = {}
for year, cost in SRC["Cost of sales"].items():
    inventory_days = SRC["Inventories"][year] / cost * 365
    sales_days = SRC["Accounts receivable"][year] / SRC["Net revenue"][year] * 365
    payable_days = SRC["Accounts payable"][year] / cost * 365
    DER[year] = {
        "DIO": inventory_days,
        "DSO": sales_days,
        "DPO": payable_days,
        "CCC": inventory_days + sales_days - payable_days,
    }

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: reinvestment rate of Marrow Bay Foods, 2021 to 2023. Amounts in millions of dollars.

Reinvestment rate (%) = (net capital expenditures + change in non-cash working capital) / NOPAT; acquisitions are
capital expenditures. Balances are named by the year at whose end they stand.
Source: Damodaran, Investment Valuation, on estimating growth from fundamentals.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Operating income": {"2021": 952, "2022": 907, "2023": 1080},
    "Income before taxes": {"2021": 871, "2022": 813, "2023": 977},
    "Income taxes": {"2021": 191, "2022": 178, "2023": 214},
    "Receivables": {"2020": 806, "2021": 874, "2022": 1016, "2023": 1043},
    "Inventories": {"2020": 1017, "2021": 1148, "2022": 1397, "2023": 1286},
    "Other current assets": {"2020": 109, "2021": 118, "2022": 131, "2023": 127},
    "Accounts payable": {"2020": 964, "2021": 1021, "2022": 1132, "2023": 1187},
    "Accrued liabilities": {"2020": 402, "2021": 423, "2022": 441, "2023": 466},
    "Depreciation": {"2021": 311, "2022": 326, "2023": 341},
    "Amortization": {"2021": 58, "2022": 61, "2023": 62},
    "Capital expenditures": {"2021": 412, "2022": 438, "2023": 395},
    "Acquisitions": {"2021": 186, "2022": 0, "2023": 0},
}

USED = ("Receivables", "Inventories", "Other current assets")
OWED = ("Accounts payable", "Accrued liabilities")


def working_capital(year):
    return sum(SRC[part][year] for part in USED) - sum(SRC[part][year] for part in OWED)


DER = {}
for year, operating_income in SRC["Operating income"].items():
    spent = SRC["Capital expenditures"][year] + SRC["Acquisitions"][year]
    net_spending = spent - SRC["Depreciation"][year] - SRC["Amortization"][year]
    change = working_capital(year) - working_capital(str(int(year) - 1))
    nopat = operating_income * (1 - SRC["Income taxes"][year] / SRC["Income before taxes"][year])
    DER[year] = {
        "Net capital expenditures": net_spending,
        "Change in working capital": change,
        "NOPAT": nopat,
        "Reinvestment rate (%)": 100 * (net_spending + change) / nopat,
    }

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

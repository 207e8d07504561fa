"""Reference: economic value added of Halden Instruments, 2022 to 2024. Amounts in millions of dollars.

EVA = NOPAT − 8.5 % × (debt + equity at the beginning of the year); NOPAT = operating income × (1 − effective tax
rate). Balances are named by the year at whose end they stand. The cost of capital is given by the query.
Source: Stewart, The Quest for Value, 1991.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Operating income": {"2022": 726, "2023": 680, "2024": 914},
    "Income before taxes": {"2022": 668, "2023": 613, "2024": 853},
    "Income taxes": {"2022": 139, "2023": 121, "2024": 176},
    "Current debt": {"2021": 125, "2022": 175, "2023": 200},
    "Long-term debt": {"2021": 1335, "2022": 1460, "2023": 1260},
    "Shareholders’ equity": {"2021": 3328, "2022": 3649, "2023": 4001},
}

COST_OF_CAPITAL = 0.085

DER = {}
for year, operating_income in SRC["Operating income"].items():
    before = str(int(year) - 1)
    nopat = operating_income * (1 - SRC["Income taxes"][year] / SRC["Income before taxes"][year])
    capital = sum(SRC[part][before] for part in ("Current debt", "Long-term debt", "Shareholders’ equity"))
    charge = COST_OF_CAPITAL * capital
    DER[year] = {"NOPAT": nopat, "Capital charge": charge, "EVA": nopat - charge}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

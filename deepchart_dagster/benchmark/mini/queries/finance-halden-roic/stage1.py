"""Reference: return on invested capital of Halden Instruments, 2021 to 2024. Amounts in millions of dollars.

NOPAT = operating income × (1 − taxes / income before taxes); invested capital = debt + equity − cash, at the year's
end; ROIC (%) = NOPAT / invested capital.
Source: Koller, Goedhart and Wessels, Valuation, on return on invested capital.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Operating income": {"2021": 711, "2022": 726, "2023": 680, "2024": 914},
    "Income before taxes": {"2021": 657, "2022": 668, "2023": 613, "2024": 853},
    "Income taxes": {"2021": 142, "2022": 139, "2023": 121, "2024": 176},
    "Cash": {"2021": 1069, "2022": 1382, "2023": 1564, "2024": 1881},
    "Current debt": {"2021": 125, "2022": 175, "2023": 200, "2024": 150},
    "Long-term debt": {"2021": 1335, "2022": 1460, "2023": 1260, "2024": 1460},
    "Shareholders’ equity": {"2021": 3328, "2022": 3649, "2023": 4001, "2024": 4426},
}

DER = {}
for year, operating_income in SRC["Operating income"].items():
    tax_rate = SRC["Income taxes"][year] / SRC["Income before taxes"][year]
    nopat = operating_income * (1 - tax_rate)
    debt = SRC["Current debt"][year] + SRC["Long-term debt"][year]
    capital = debt + SRC["Shareholders’ equity"][year] - SRC["Cash"][year]
    DER[year] = {"NOPAT": nopat, "Invested capital": capital, "ROIC (%)": 100 * nopat / capital}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

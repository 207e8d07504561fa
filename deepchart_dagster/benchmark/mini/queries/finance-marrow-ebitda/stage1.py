"""Reference: EBITDA of Marrow Bay Foods, 2019 to 2023. Amounts in millions of dollars.

EBITDA = net income + income taxes + interest expense + depreciation + amortization.
Source: U.S. Securities and Exchange Commission, Non-GAAP Financial Measures, question 103.01: earnings are net income.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2019": 548, "2020": 719, "2021": 680, "2022": 635, "2023": 763},
    "Income taxes": {"2019": 152, "2020": 206, "2021": 191, "2022": 178, "2023": 214},
    "Depreciation": {"2019": 287, "2020": 298, "2021": 311, "2022": 326, "2023": 341},
    "Amortization": {"2019": 54, "2020": 54, "2021": 58, "2022": 61, "2023": 62},
    "Interest expense": {"2019": 83, "2020": 78, "2021": 81, "2022": 94, "2023": 103},
}

DER = {year: {"EBITDA": sum(part[year] for part in SRC.values())} for year in SRC["Net income"]}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

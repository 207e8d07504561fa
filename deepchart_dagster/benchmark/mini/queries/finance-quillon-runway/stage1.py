"""Reference: cash burn runway of Quillon Therapeutics, 2021 to 2024. Source values in thousands of dollars.

Runway (months) = (cash + marketable securities) / monthly burn; monthly burn = (cash used in operations + capital
expenditures) / 12. Both are positive here and stand in parentheses in the statement.
Source: Damodaran, The Dark Side of Valuation, on the cash that young companies burn.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Cash": {"2021": 96524, "2022": 62618, "2023": 60832, "2024": 55603},
    "Marketable securities": {"2021": 71450, "2022": 48915, "2023": 39680, "2024": 31425},
    "Cash used in operations": {"2021": 53502, "2022": 61088, "2023": 58087, "2024": 45308},
    "Capital expenditures": {"2021": 6127, "2022": 7853, "2023": 3964, "2024": 2876},
}

DER = {}
for year, cash in SRC["Cash"].items():
    burn = (SRC["Cash used in operations"][year] + SRC["Capital expenditures"][year]) / 12
    months = (cash + SRC["Marketable securities"][year]) / burn
    DER[year] = {"Monthly burn": burn, "Runway (months)": months}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Reference: net-net working capital of Quillon Therapeutics, 2022 to 2024. Amounts in thousands of dollars.

NNWC = cash + marketable securities + 75 % of receivables + 50 % of inventories − total liabilities.
Source: Graham and Dodd, Security Analysis, on liquidating values; the discounts are those in common use.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Cash": {"2022": 62618, "2023": 60832, "2024": 55603},
    "Marketable securities": {"2022": 48915, "2023": 39680, "2024": 31425},
    "Receivables": {"2022": 6714, "2023": 8392, "2024": 9876},
    "Inventories": {"2022": 4987, "2023": 6218, "2024": 7143},
    "Total liabilities": {"2022": 58043, "2023": 52875, "2024": 50588},
}

DER = {}
for year, liabilities in SRC["Total liabilities"].items():
    parts = {
        "Cash and securities": SRC["Cash"][year] + SRC["Marketable securities"][year],
        "Discounted receivables": 0.75 * SRC["Receivables"][year],
        "Discounted inventories": 0.5 * SRC["Inventories"][year],
    }
    DER[year] = {**parts, "NNWC": sum(parts.values()) - liabilities}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

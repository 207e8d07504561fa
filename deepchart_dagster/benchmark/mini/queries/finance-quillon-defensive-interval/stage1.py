"""Reference: defensive interval ratio of Quillon Therapeutics, 2021 to 2023. Source values in thousands of dollars.

DIR (days) = (cash + marketable securities + receivables) / daily cash expenses; cash expenses are cost of sales and
operating expenses without depreciation, amortization and stock-based compensation.
Source: Sorter and Benston, Appraising the Defensive Position of a Firm: The Interval Measure, The Accounting Review,
1960.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Cost of sales": {"2021": 5124, "2022": 6238, "2023": 8113},
    "Operating expenses": {"2021": 80267, "2022": 91076, "2023": 87332},
    "Cash": {"2021": 96524, "2022": 62618, "2023": 60832},
    "Marketable securities": {"2021": 71450, "2022": 48915, "2023": 39680},
    "Receivables": {"2021": 5836, "2022": 6714, "2023": 8392},
    "Depreciation": {"2021": 3186, "2022": 3642, "2023": 3987},
    "Amortization": {"2021": 1265, "2022": 1265, "2023": 1265},
    "Stock-based compensation": {"2021": 9874, "2022": 11462, "2023": 10538},
}

NOT_CASH = ("Depreciation", "Amortization", "Stock-based compensation")

DER = {}
for year, cost in SRC["Cost of sales"].items():
    assets = SRC["Cash"][year] + SRC["Marketable securities"][year] + SRC["Receivables"][year]
    daily = (cost + SRC["Operating expenses"][year] - sum(SRC[part][year] for part in NOT_CASH)) / 365
    DER[year] = {"Defensive assets": assets, "Daily cash expenses": daily, "DIR (days)": assets / daily}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

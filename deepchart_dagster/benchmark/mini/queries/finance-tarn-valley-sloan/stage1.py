"""Reference: Sloan ratio of Tarn Valley Paper, fiscal years 2021 to 2024. Source values in thousands of dollars.

Sloan ratio (%) = (net income − operating cash flow − investing cash flow) / total assets at the year's end.
Source: Sloan, Do Stock Prices Fully Reflect Information in Accruals and Cash Flows about Future Earnings?, The
Accounting Review, 1996; accruals by way of the statement of cash flows.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2021": 24616, "2022": 24394, "2023": 19160, "2024": 26168},
    "Total assets": {"2021": 414830, "2022": 447709, "2023": 447039, "2024": 467292},
    "Operating cash flow": {"2021": 48540, "2022": 43523, "2023": 57012, "2024": 64037},
    "Investing cash flow": {"2021": -38633, "2022": -31742, "2023": -24618, "2024": -27385},
}

DER = {}
for year, net_income in SRC["Net income"].items():
    accruals = net_income - SRC["Operating cash flow"][year] - SRC["Investing cash flow"][year]
    DER[year] = {"Accruals": accruals, "Sloan ratio (%)": 100 * accruals / SRC["Total assets"][year]}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

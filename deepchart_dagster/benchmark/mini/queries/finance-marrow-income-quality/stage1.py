"""Reference: quality of income ratio of Marrow Bay Foods, 2019 to 2023. Amounts in millions of dollars.

Quality of income ratio = net cash provided by operating activities / net income.
Source: Libby, Libby and Hodge, Financial Accounting, on the statement of cash flows.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2019": 548, "2020": 719, "2021": 680, "2022": 635, "2023": 763},
    "Operating cash flow": {"2019": 906, "2020": 1125, "2021": 956, "2022": 786, "2023": 1376},
}

DER = {
    year: {"Quality of income ratio": SRC["Operating cash flow"][year] / net_income}
    for year, net_income in SRC["Net income"].items()
}

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

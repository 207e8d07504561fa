"""Reference: DuPont return on equity of Halden Instruments, 2021 to 2024. Source values in millions of dollars.

ROE (%) = net income / net sales × net sales / total assets × total assets / equity, balances at the year's end.
Source: the DuPont identity as in Brealey, Myers and Allen, Principles of Corporate Finance, on measuring performance.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2021": 515, "2022": 529, "2023": 492, "2024": 677},
    "Net sales": {"2021": 3862, "2022": 4205, "2023": 4391, "2024": 4876},
    "Total assets": {"2021": 5573, "2022": 6125, "2023": 6325, "2024": 6976},
    "Shareholders’ equity": {"2021": 3328, "2022": 3649, "2023": 4001, "2024": 4426},
}

DER = {}
for year, net_income in SRC["Net income"].items():
    margin = net_income / SRC["Net sales"][year]
    turnover = SRC["Net sales"][year] / SRC["Total assets"][year]
    multiplier = SRC["Total assets"][year] / SRC["Shareholders’ equity"][year]
    DER[year] = {
        "Net profit margin (%)": 100 * margin,
        "Asset turnover": turnover,
        "Equity multiplier": multiplier,
        "Return on equity (%)": 100 * margin * turnover * multiplier,
    }

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

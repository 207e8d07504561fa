"""Reference: Piotroski F-Score of Halden Instruments, 2022 to 2024. Amounts and shares in millions.

Nine tests, a point each: four of profitability, three of leverage and liquidity, two of efficiency; balances at the
year's end, shares as the weighted average.
Source: Piotroski, Value Investing: The Use of Historical Financial Statement Information to Separate Winners from
Losers, Journal of Accounting Research, 2000.
"""

import json
import sys
from pathlib import Path

SRC = {
    "Net income": {"2021": 515, "2022": 529, "2023": 492, "2024": 677},
    "Net sales": {"2021": 3862, "2022": 4205, "2023": 4391, "2024": 4876},
    "Gross profit": {"2021": 1969, "2022": 2083, "2023": 2120, "2024": 2463},
    "Shares outstanding": {"2021": 316, "2022": 313, "2023": 312, "2024": 309},
    "Total assets": {"2021": 5573, "2022": 6125, "2023": 6325, "2024": 6976},
    "Current assets": {"2021": 2383, "2022": 2864, "2023": 3099, "2024": 3530},
    "Current liabilities": {"2021": 910, "2022": 1016, "2023": 1064, "2024": 1090},
    "Long-term debt": {"2021": 1335, "2022": 1460, "2023": 1260, "2024": 1460},
    "Operating cash flow": {"2022": 755, "2023": 824, "2024": 1020},
}


def ratio(part, whole, year):
    return SRC[part][year] / SRC[whole][year]


def rises(part, whole, year, before):
    return ratio(part, whole, year) > ratio(part, whole, before)


DER = {}
for year, cash_flow in SRC["Operating cash flow"].items():
    before = str(int(year) - 1)
    profitability = [
        SRC["Net income"][year] > 0,
        cash_flow > 0,
        rises("Net income", "Total assets", year, before),
        cash_flow > SRC["Net income"][year],
    ]
    leverage = [
        rises("Long-term debt", "Total assets", before, year),
        rises("Current assets", "Current liabilities", year, before),
        SRC["Shares outstanding"][year] <= SRC["Shares outstanding"][before],
    ]
    efficiency = [
        rises("Gross profit", "Net sales", year, before),
        rises("Net sales", "Total assets", year, before),
    ]
    DER[year] = {
        "Profitability": sum(profitability),
        "Leverage and liquidity": sum(leverage),
        "Efficiency": sum(efficiency),
        "F-Score": sum(profitability + leverage + efficiency),
    }

Path(sys.argv[1]).write_text(json.dumps({"src_data": SRC, "der_data": DER}), encoding="utf-8")

"""Tarn Valley Paper Company, an invented paper mill. Fiscal years 2020 to 2024, each of which ends in June.

Its statements show three years, in thousands, beside a column of references to the notes.
"""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.books import Decisions, Position, keep_books
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.typeset import Look

_OPENING = Position(
    cash=23_418,
    receivables=46_732,
    inventories=58_914,
    other_current=6_287,
    plant=214_563,
    intangibles=31_846,
    payables=34_528,
    accrued=21_763,
    current_debt=9_000,
    long_term_debt=118_000,
    paid_in_capital=86_214,
    retained_earnings=112_255,
)

_DECISIONS = {
    2020: Decisions(
        revenue=418_372, cost_of_sales=322_146, research=3_912, selling=52_836, depreciation=24_318,
        amortization=2_914, interest=5_872, tax=7_145, stock_compensation=2_318, capital_spending=28_456,
        acquisitions=0, debt_issued=0, debt_repaid=9_000, dividends=8_215, repurchases=2_500, receivables=44_918,
        inventories=61_372, other_current=6_514, payables=35_847, accrued=22_316, current_debt=9_000,
    ),
    2021: Decisions(
        revenue=441_685, cost_of_sales=341_927, research=4_136, selling=54_972, depreciation=25_147,
        amortization=2_914, interest=5_438, tax=7_682, stock_compensation=2_456, capital_spending=26_183,
        acquisitions=12_450, debt_issued=15_000, debt_repaid=9_000, dividends=8_643, repurchases=3_000,
        receivables=49_273, inventories=66_815, other_current=6_928, payables=38_264, accrued=23_518,
        current_debt=10_500,
    ),
    2022: Decisions(
        revenue=486_219, cost_of_sales=383_564, research=4_318, selling=57_416, depreciation=26_284,
        amortization=3_187, interest=5_914, tax=7_426, stock_compensation=2_613, capital_spending=31_742,
        acquisitions=0, debt_issued=20_000, debt_repaid=10_500, dividends=9_126, repurchases=1_500,
        receivables=56_148, inventories=79_436, other_current=7_385, payables=43_917, accrued=24_863,
        current_debt=11_000,
    ),
    2023: Decisions(
        revenue=502_846, cost_of_sales=404_273, research=4_527, selling=59_138, depreciation=27_615,
        amortization=3_187, interest=6_843, tax=5_718, stock_compensation=2_748, capital_spending=24_618,
        acquisitions=0, debt_issued=0, debt_repaid=11_000, dividends=9_358, repurchases=0, receivables=55_287,
        inventories=73_914, other_current=7_246, payables=41_386, accrued=25_174, current_debt=11_500,
    ),
    2024: Decisions(
        revenue=528_914, cost_of_sales=418_736, research=4_785, selling=61_927, depreciation=28_436,
        amortization=3_187, interest=6_215, tax=7_896, stock_compensation=2_934, capital_spending=27_385,
        acquisitions=0, debt_issued=10_000, debt_repaid=11_500, dividends=9_742, repurchases=2_000,
        receivables=58_362, inventories=71_548, other_current=7_618, payables=44_215, accrued=26_738,
        current_debt=12_000,
    ),
}  # fmt: skip

TARN_VALLEY = Company(
    name="Tarn Valley Paper Company",
    short="Tarn Valley",
    state="Oregon",
    city="Albany, Oregon",
    year_end="June 30",
    income_title="CONSOLIDATED STATEMENTS OF EARNINGS",
    revenue_label="Net sales",
    inventory_note=(47, 53),
    segment_shares={"Packaging Board": 49, "Fine Papers": 33, "Tissue": 18},
    region_shares={"Western states": 54, "Other states": 31, "Exports": 15},
    shares_outstanding={2020: 21_460, 2021: 21_385, 2022: 21_340, 2023: 21_352, 2024: 21_318},
    business=(
        "Tarn Valley makes board, paper and tissue from the wood of the valley and from what the region returns. Three "
        "machines run at Albany and one at Longview, day and night, apart from two weeks of overhaul in July.",
        "Packaging Board goes to makers of boxes within a day's drive. Fine Papers are sold through merchants. Tissue "
        "leaves the mill in parent reels, which others cut, print and wrap.",
        "A third of the fibre is bought as chips from sawmills, a third as recovered paper, and the rest comes from "
        "land that is rented for terms of forty years.",
        "Steam and most of the power come from burning bark and liquor. Gas is bought for the winter and in the weeks "
        "in which a boiler is inspected.",
        "The fiscal year ends on June 30, so that stocks are counted while the machines stand still.",
    ),
    risks=(
        "Prices of recovered paper double and halve within a year. The price of board follows after two quarters.",
        "Machines are old and were rebuilt at different times. A broken drying cylinder stops a line for a month.",
        "Water is taken from the river under a permit that is renewed every eight years. In dry summers less may be "
        "taken.",
        "Printing and writing papers are used less each year. The machine that makes them can be turned to other "
        "grades, at a cost.",
        "Two thirds of the workforce is covered by an agreement that runs out in the coming fiscal year.",
    ),
    outlook=(
        "Sales grew with board. Fine papers lost volume every year and gained in price; tissue had the hours of the "
        "second machine that fine papers no longer need.",
        "Fibre cost rose faster than prices in two of the years shown. Stocks were allowed to grow while rail cars "
        "were short, and came down when they were not.",
    ),
    years=keep_books(_OPENING, _DECISIONS),
    unit="thousands",
    notes={
        "Net sales": "2",
        "Provision for income taxes": "11",
        "Accounts receivable, net": "4",
        "Inventories": "5",
        "Property, plant and equipment, net": "6",
        "Goodwill and intangible assets, net": "7",
        "Accrued liabilities": "8",
        "Long-term debt": "9",
        "Stock-based compensation": "13",
        "Repayments of debt": "9",
        "Repurchases of common stock": "15",
    },
    # To be read from reduced copies without an error: commas of a serif font would become points, and pieces of a thin
    # rule that lies askew dashes.
    look=Look(size=10.5, table_size=10.5, font="helv", bold="hebo", rule=1.2),
)

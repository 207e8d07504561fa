"""Halden Instruments Corporation, an invented maker of laboratory instruments. Fiscal years 2020 to 2024."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.books import Decisions, Position, keep_books
from deepchart_dagster.benchmark.mini.companies.company import Company

_OPENING = Position(
    cash=612,
    receivables=548,
    inventories=463,
    other_current=121,
    plant=1_874,
    intangibles=1_236,
    payables=287,
    accrued=402,
    current_debt=150,
    long_term_debt=1_310,
    paid_in_capital=1_118,
    retained_earnings=1_587,
)

_DECISIONS = {
    2020: Decisions(
        revenue=3_418, cost_of_sales=1_709, research=342, selling=721, depreciation=164, amortization=88,
        interest=51, tax=104, stock_compensation=47, capital_spending=211, acquisitions=0, debt_issued=250,
        debt_repaid=150, dividends=118, repurchases=60, receivables=571, inventories=482, other_current=127,
        payables=301, accrued=418, current_debt=100,
    ),
    2021: Decisions(
        revenue=3_862, cost_of_sales=1_893, research=389, selling=778, depreciation=171, amortization=91,
        interest=54, tax=142, stock_compensation=52, capital_spending=246, acquisitions=137, debt_issued=0,
        debt_repaid=100, dividends=131, repurchases=85, receivables=634, inventories=541, other_current=139,
        payables=338, accrued=447, current_debt=125,
    ),
    2022: Decisions(
        revenue=4_205, cost_of_sales=2_122, research=431, selling=829, depreciation=183, amortization=97,
        interest=58, tax=139, stock_compensation=58, capital_spending=287, acquisitions=64, debt_issued=300,
        debt_repaid=125, dividends=146, repurchases=120, receivables=703, inventories=628, other_current=151,
        payables=372, accrued=469, current_debt=175,
    ),
    2023: Decisions(
        revenue=4_391, cost_of_sales=2_271, research=468, selling=871, depreciation=198, amortization=101,
        interest=67, tax=121, stock_compensation=63, capital_spending=264, acquisitions=0, debt_issued=0,
        debt_repaid=175, dividends=158, repurchases=45, receivables=728, inventories=659, other_current=148,
        payables=381, accrued=483, current_debt=200,
    ),
    2024: Decisions(
        revenue=4_876, cost_of_sales=2_413, research=512, selling=934, depreciation=207, amortization=103,
        interest=61, tax=176, stock_compensation=71, capital_spending=318, acquisitions=212, debt_issued=350,
        debt_repaid=200, dividends=173, repurchases=150, receivables=797, inventories=688, other_current=164,
        payables=419, accrued=521, current_debt=150,
    ),
}  # fmt: skip

HALDEN = Company(
    name="Halden Instruments Corporation",
    short="Halden",
    state="Minnesota",
    city="Duluth, Minnesota",
    year_end="December 31",
    income_title="CONSOLIDATED STATEMENTS OF OPERATIONS",
    revenue_label="Net sales",
    inventory_note=(61, 39),
    segment_shares={"Analytical Instruments": 52, "Process Measurement": 31, "Service and Consumables": 17},
    region_shares={"Americas": 46, "Europe": 33, "Asia Pacific": 21},
    shares_outstanding={2020: 318, 2021: 316, 2022: 313, 2023: 312, 2024: 309},
    business=(
        "Halden designs and builds instruments that weigh, heat, separate and count. Its balances, furnaces, "
        "chromatographs and particle counters stand in the laboratories of drug makers, universities, water "
        "works and food producers.",
        "The Analytical Instruments segment sells bench-top chromatographs and spectrometers. The Process "
        "Measurement segment sells probes and transmitters that sit in a pipe or a vessel and report day and "
        "night. The Service and Consumables segment calibrates what the other two have sold and supplies "
        "columns, lamps and standards.",
        "Most instruments are assembled in Duluth and in Ulm, Germany. Boards come from two contract "
        "manufacturers; optics are ground in house. A typical order is delivered eleven weeks after it is placed.",
        "About two fifths of the sales go through distributors, the rest through the company's own engineers. "
        "No customer accounts for more than four percent of the sales of any year shown in this report.",
        "Competition is by accuracy, by the hours a machine stands still, and by the price of what it consumes. "
        "Halden holds patents on its ion source and on the self-cleaning probe; none of them is decisive alone.",
    ),
    risks=(
        "Laboratories put off purchases when research budgets are cut. A public budget that is decided late "
        "moves orders from one fiscal year to the next and makes quarters hard to compare.",
        "Two contract manufacturers make nearly all circuit boards. If one of them stopped, qualifying another "
        "would take the better part of a year, and some instruments could not be delivered meanwhile.",
        "Half of the cost is in dollars while more than half of the sales are in other currencies. Hedges cover "
        "the coming four quarters only, and only in part.",
        "Certain probes are used where a wrong reading can stop a plant. A fault that is found late can lead to "
        "recalls and claims beyond the limits of insurance.",
        "Goodwill from acquisitions is tested every year. Weaker forecasts for the acquired business could lead "
        "to a charge that reduces income but no cash.",
    ),
    outlook=(
        "Sales of analytical instruments grew with the number of new laboratories; prices rose by a little over "
        "two percent. Process measurement followed the order book of chemical plants with a delay of two quarters.",
        "The gross margin moved with freight and with the share of service in the mix. Research spending was "
        "kept near a tenth of sales, as in the years before.",
    ),
    years=keep_books(_OPENING, _DECISIONS),
)

"""Quillon Therapeutics, Inc., an invented developer of medicines that is not profitable yet. Fiscal years 2020 to 2024.

A smaller reporting company: its statements show two years, in thousands, and are printed on low pages, so that
balance sheets and statements of cash flows go on over a page break.
"""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.books import Decisions, Position, keep_books
from deepchart_dagster.benchmark.mini.companies.company import Company
from deepchart_dagster.benchmark.mini.typeset import Look

_OPENING = Position(
    cash=84_215,
    securities=61_380,
    receivables=3_912,
    inventories=2_846,
    other_current=4_127,
    plant=21_734,
    intangibles=12_650,
    payables=7_418,
    accrued=9_863,
    current_debt=2_500,
    long_term_debt=22_500,
    paid_in_capital=402_918,
    retained_earnings=-254_335,
)

_DECISIONS = {
    2020: Decisions(
        revenue=14_286, cost_of_sales=3_917, research=48_652, selling=19_438, depreciation=2_913, amortization=1_265,
        interest=1_874, tax=0, stock_compensation=8_236, capital_spending=4_418, acquisitions=0, debt_issued=0,
        debt_repaid=2_500, dividends=0, repurchases=0, receivables=4_375, inventories=3_218, other_current=4_562,
        payables=8_126, accrued=11_347, current_debt=2_500, securities=58_240, shares_issued=42_600,
    ),
    2021: Decisions(
        revenue=18_943, cost_of_sales=5_124, research=56_317, selling=22_685, depreciation=3_186, amortization=1_265,
        interest=1_742, tax=0, stock_compensation=9_874, capital_spending=6_127, acquisitions=0, debt_issued=0,
        debt_repaid=2_500, dividends=0, repurchases=0, receivables=5_836, inventories=4_093, other_current=5_118,
        payables=9_742, accrued=12_986, current_debt=2_500, securities=71_450, shares_issued=96_350,
    ),
    2022: Decisions(
        revenue=21_507, cost_of_sales=6_238, research=63_894, selling=25_917, depreciation=3_642, amortization=1_265,
        interest=1_938, tax=0, stock_compensation=11_462, capital_spending=7_853, acquisitions=0, debt_issued=15_000,
        debt_repaid=2_500, dividends=0, repurchases=0, receivables=6_714, inventories=4_987, other_current=5_873,
        payables=10_918, accrued=14_625, current_debt=3_750, securities=48_915,
    ),
    2023: Decisions(
        revenue=27_864, cost_of_sales=8_113, research=58_726, selling=27_341, depreciation=3_987, amortization=1_265,
        interest=2_415, tax=0, stock_compensation=10_538, capital_spending=3_964, acquisitions=0, debt_issued=0,
        debt_repaid=3_750, dividends=0, repurchases=0, receivables=8_392, inventories=6_218, other_current=5_427,
        payables=10_254, accrued=13_871, current_debt=3_750, securities=39_680, shares_issued=54_780,
    ),
    2024: Decisions(
        revenue=36_419, cost_of_sales=10_785, research=52_183, selling=28_906, depreciation=4_102, amortization=1_265,
        interest=2_287, tax=0, stock_compensation=9_815, capital_spending=2_876, acquisitions=0, debt_issued=0,
        debt_repaid=3_750, dividends=0, repurchases=0, receivables=9_876, inventories=7_143, other_current=5_964,
        payables=11_382, accrued=14_206, current_debt=5_000, securities=31_425, shares_issued=38_450,
    ),
}  # fmt: skip

QUILLON = Company(
    name="Quillon Therapeutics, Inc.",
    short="Quillon",
    state="Delaware",
    city="Madison, Wisconsin",
    year_end="December 31",
    income_title="CONSOLIDATED STATEMENTS OF OPERATIONS",
    revenue_label="Total revenue",
    inventory_note=(44, 56),
    segment_shares={"Product Sales": 58, "Collaborations": 34, "Royalties": 8},
    region_shares={"United States": 63, "Europe": 29, "Japan": 8},
    shares_outstanding={2020: 38_420, 2021: 43_815, 2022: 44_206, 2023: 49_731, 2024: 53_948},
    business=(
        "Quillon develops medicines against diseases of the small vessels of the kidney and the retina. One of them, "
        "an eye drop, is sold; three are in trials with patients, and two have not left the laboratory.",
        "The eye drop is made by a contract manufacturer in Wisconsin and filled in Ghent. A partner sells it in "
        "Europe and in Japan, pays for each step that is reached, and owes a royalty from the third year on.",
        "A trial of the second phase takes Quillon two to three years, one of the third phase three to four. Most "
        "candidates fail; those that do not must pay for those that do.",
        "The company holds eleven families of patents. The oldest one that matters runs out in 2036, before any "
        "extension that the law allows for time lost in trials.",
        "Larger houses work on the same receptors with more money. Quillon expects to be earlier with the oral form, "
        "and later with the injected one.",
    ),
    risks=(
        "There has been no year with a profit, and there may never be one. The deficit grows as long as trials cost "
        "more than the one product brings in.",
        "Cash will have to be raised before the largest trial is complete. New shares dilute those who hold the old "
        "ones, and loans come with conditions.",
        "A trial can end early because it harms, because it does not help, or because too few patients come. Each of "
        "these has happened to companies of this kind.",
        "The drop is filled at one site. Were it to stop, stocks would last for fourteen weeks.",
        "The partner may give its rights back with six months of notice, and may do so for reasons of its own.",
    ),
    outlook=(
        "Revenue rose with prescriptions, and in some years with a payment from the partner for a step that was "
        "reached. Such payments come at once and cannot be planned by quarters.",
        "Spending on research followed the number of patients in trials. It was highest in the year in which two "
        "trials overlapped, and has fallen since the smaller one was closed.",
    ),
    years=keep_books(_OPENING, _DECISIONS),
    unit="thousands",
    flow_years=2,
    outcome="loss",
    look=Look(width=576.0, height=500.0, margin=54.0, size=10.0, table_size=10.5),
)

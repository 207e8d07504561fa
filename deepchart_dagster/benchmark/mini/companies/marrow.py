"""Marrow Bay Foods, Inc., an invented maker of frozen meals. Fiscal years 2019 to 2023."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.companies.books import Decisions, Position, keep_books
from deepchart_dagster.benchmark.mini.companies.company import Company

_OPENING = Position(
    cash=388,
    receivables=721,
    inventories=934,
    other_current=96,
    plant=2_846,
    intangibles=1_902,
    payables=812,
    accrued=367,
    current_debt=210,
    long_term_debt=1_990,
    paid_in_capital=1_475,
    retained_earnings=2_033,
)

_DECISIONS = {
    2019: Decisions(
        revenue=8_137, cost_of_sales=6_021, research=61, selling=1_218, depreciation=287, amortization=54,
        interest=83, tax=152, stock_compensation=31, capital_spending=334, acquisitions=0, debt_issued=0,
        debt_repaid=210, dividends=204, repurchases=75, receivables=743, inventories=962, other_current=103,
        payables=841, accrued=381, current_debt=180,
    ),
    2020: Decisions(
        revenue=8_954, cost_of_sales=6_537, research=64, selling=1_296, depreciation=298, amortization=54,
        interest=78, tax=206, stock_compensation=34, capital_spending=361, acquisitions=0, debt_issued=400,
        debt_repaid=180, dividends=216, repurchases=90, receivables=806, inventories=1_017, other_current=109,
        payables=964, accrued=402, current_debt=240,
    ),
    2021: Decisions(
        revenue=9_312, cost_of_sales=6_894, research=67, selling=1_341, depreciation=311, amortization=58,
        interest=81, tax=191, stock_compensation=37, capital_spending=412, acquisitions=186, debt_issued=150,
        debt_repaid=240, dividends=228, repurchases=110, receivables=874, inventories=1_148, other_current=118,
        payables=1_021, accrued=423, current_debt=220,
    ),
    2022: Decisions(
        revenue=10_268, cost_of_sales=7_793, research=70, selling=1_437, depreciation=326, amortization=61,
        interest=94, tax=178, stock_compensation=39, capital_spending=438, acquisitions=0, debt_issued=300,
        debt_repaid=220, dividends=241, repurchases=60, receivables=1_016, inventories=1_397, other_current=131,
        payables=1_132, accrued=441, current_debt=260,
    ),
    2023: Decisions(
        revenue=10_791, cost_of_sales=8_046, research=74, selling=1_529, depreciation=341, amortization=62,
        interest=103, tax=214, stock_compensation=42, capital_spending=395, acquisitions=0, debt_issued=0,
        debt_repaid=260, dividends=252, repurchases=80, receivables=1_043, inventories=1_286, other_current=127,
        payables=1_187, accrued=466, current_debt=230,
    ),
}  # fmt: skip

MARROW = Company(
    name="Marrow Bay Foods, Inc.",
    short="Marrow Bay",
    state="Maine",
    city="Portland, Maine",
    year_end="December 31",
    income_title="CONSOLIDATED STATEMENTS OF INCOME",
    revenue_label="Net revenue",
    inventory_note=(68, 32),
    segment_shares={"Retail Frozen": 58, "Food Service": 29, "Private Label": 13},
    region_shares={"United States": 71, "Canada": 18, "Other countries": 11},
    shares_outstanding={2019: 204, 2020: 203, 2021: 201, 2022: 200, 2023: 199},
    business=(
        "Marrow Bay cooks, freezes and delivers meals. Its kitchens stand in Maine, Ontario and Georgia, close "
        "to the fields and harbours that supply them, and its trucks reach most of the eastern half of the "
        "continent within two days.",
        "Retail Frozen sells fish, vegetables and complete meals under three brands. Food Service packs the "
        "same goods in larger boxes for schools, hospitals and restaurants. Private Label packs for grocers who "
        "print their own name on the box.",
        "Fish and grain are bought under contracts that run from three to eighteen months. Vegetables are bought "
        "once a year, at harvest, which is why stocks are highest in the autumn.",
        "Grocers negotiate prices each spring. Payment is due after thirty days as a rule; two large chains have "
        "obtained longer terms.",
        "The company competes with larger houses that advertise more and with grocers' own brands that cost less. "
        "It holds its place by taste, by reliable delivery and by the short list on the back of the box.",
    ),
    risks=(
        "A poor harvest raises prices for a whole year, since vegetables are bought once. Grocers accept a higher "
        "price late, and not always.",
        "Cold stores must never warm up. A failure of power or of a compressor can spoil goods worth several "
        "million dollars in one night.",
        "The three largest customers take a third of the goods. Losing one of them would leave kitchens idle.",
        "An illness that is traced to a kitchen, even by mistake, can empty the shelves of a region for weeks.",
        "Loans carry covenants on interest cover. A longer period of weak margins would make borrowing dearer.",
    ),
    outlook=(
        "Revenue rose with prices more than with volumes. Families that cooked at home in the years before went "
        "out again, and Food Service gained what Retail Frozen gave up.",
        "Stocks were built up ahead of a harvest that was expected to be poor, and were reduced afterwards. "
        "Suppliers granted somewhat longer terms, customers took them too.",
    ),
    years=keep_books(_OPENING, _DECISIONS),
)

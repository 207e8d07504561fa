"""The sentences that every filing of the mini benchmark has in common."""

from __future__ import annotations

COVER = (
    "{name} had {shares} {unit} shares of common stock outstanding at the end of January {next_year}. The shares are "
    "listed under one class. The company files every report that is due, answers the questions of its auditors and "
    "keeps this report on its web site. All figures in this document are invented for a test of chart generation."
)

ITEMS = (
    ("Item 1", "Business"),
    ("Item 1A", "Risk factors"),
    ("Item 1C", "Cybersecurity"),
    ("Item 2", "Properties"),
    ("Item 3", "Legal proceedings"),
    ("Item 5", "Market for the shares"),
    ("Item 6", "Selected financial data"),
    ("Item 7", "Management's discussion and analysis"),
    ("Item 7A", "Market risk"),
    ("Item 8", "Consolidated balance sheets, statements of income and cash flows, and notes"),
    ("Item 9A", "Controls and procedures"),
    ("Items 10 to 14", "Board, pay, owners and fees"),
    ("Schedule I", "The parent company alone"),
    ("Schedule II", "Valuation accounts"),
    ("Item 15", "Exhibits and signatures"),
)

FORWARD_LOOKING = (
    "Where this report speaks of what {short} expects, it describes plans. Plans meet obstacles, some of them listed "
    "under Item 1A. The company does not promise to correct such sentences when the world turns out otherwise."
)

PEOPLE = (
    "{short} trains its own technicians. Most of those who run a plant today began in it, and the average time with "
    "the company is nine years. Safety is measured in hours lost, and managers are paid by it."
)

RISKS = "The following could make results differ from those of the past. The order does not say what is more likely."

GENERAL_RISKS = (
    "Information systems plan production, pay suppliers and hold the order book. An intrusion could stop deliveries "
    "for days. {short} keeps copies apart from its network and practises the return to work twice a year.",
    "Rules on packaging, chemicals and data change from state to state. Following all of them costs money, overlooking "
    "one of them costs more.",
    "Skilled people are scarce near the larger plants. Wages there have risen faster than the prices that {short} can "
    "charge.",
)

PROPERTIES = (
    "The company owns its main plant and its headquarters and rents warehouses for terms of three to twelve years. The "
    "plants are insured at the cost of building them again.",
    "About four fifths of the floor was in use during the year. A new hall was finished in the summer; it replaces two "
    "rented ones, whose contracts were given up.",
    "No single property is so important that the company could not move its work elsewhere within a year, except for "
    "the main plant, for which no substitute exists.",
)

CYBERSECURITY = (
    "A committee of the board is told four times a year of attempts to enter the company's systems, of those that went "
    "on for longer than an hour, and of what was changed since. None of them has had a material effect so far.",
    "Suppliers that hold data of {short} are asked for the report of an auditor of their own. Those that have none are "
    "given no data.",
    "Every employee is trained once a year. Those who open what should not have been opened are trained again.",
)

SITES = (
    "The list names what is used for production, storage, research or offices, with the floor in thousands of square "
    "feet. Sites of less than five thousand square feet are left out."
)

LEGAL = (
    "Claims are made against {short} in the course of business, over deliveries, employment and patents. Some of them "
    "name large sums. Management expects none of them to change the financial position by a material amount.",
    "A former tenant of a site asks for the cost of cleaning its soil. The matter has been before a court for six "
    "years, and a decision is not expected soon.",
)

MARKET = (
    "The table shows the highest and the lowest price of a share in each quarter of the last two fiscal years, and "
    "what was bought back under the plan of the board in the last one, in dollars and in {unit} of shares.",
)

SELECTED = (
    "Years are shown as they were reported first, before later changes of method; figures of the latest years agree "
    "with the statements. Ratios are computed by the company and are not defined by accounting rules.",
)

RESULTS = (
    "The table sets each line of the results beside that of the year before. A change of less than a tenth of a "
    "percent is shown as none. Where both amounts are negative, a rise is a larger loss.",
)

ESTIMATES = (
    "Four estimates matter most: what rebates will be claimed, what stocks can still be sold for, how long machines "
    "will run, and what the businesses that were bought will earn. Each of them is discussed with the audit committee.",
    "A change of the assumed life of machines by one year would move depreciation by about six percent. A change of "
    "the rate at which goodwill is tested by one percentage point would not have led to a charge in any year shown.",
    "Taxes that are disputed are provided for where the dispute is more likely lost than won. The provision has been "
    "larger than what was paid in each of the last four years.",
)

OBLIGATIONS = (
    "What {short} has agreed to pay is summed up by the year in which it falls due. Purchases that can be given up "
    "without a cost are left out, and so are taxes whose date is not known.",
)

CONTROLS = (
    "Management has tested the controls over financial reporting by the framework that most companies use, and holds "
    "them to be effective. The auditors have come to the same view, in a report of their own.",
    "One control was changed in the fourth quarter: prices in orders are now compared with the list by a program and "
    "no longer by hand.",
)

GOVERNANCE = (
    "The board has nine members, of whom eight are independent. It met seven times. Its committees for audit, pay and "
    "nominations consist of independent members alone.",
    "Pay of the five highest officers, what shares they hold and what they were granted is in the proxy statement, "
    "which is sent to shareholders within 120 days of the end of the fiscal year and is part of this report by "
    "reference.",
    "No owner holds more than a tenth of the shares. Fees of the auditors for the audit, for services close to it and "
    "for taxes were approved before the work began.",
)

CHANGES = (
    "The tables that follow split the results by quarter of the year and by kind of cost. They are not audited, and "
    "rounding can keep the parts of a year from adding up by one.",
)

VALUATION = "What was set aside against assets, what was added from income, and what was used, in each of the years."

DISCUSSION = (
    "Operating expenses grew more slowly than sales. {short} hired in sales and in research and left vacancies in "
    "administration open. Freight, which had weighed on the middle of the period, came back to its usual share.",
    "Interest expense followed the debt and the rates that banks ask. The effective tax rate stayed near one fifth, "
    "since the mix of countries changed little.",
    "Management looks at gross margin, operating margin and free cash flow. The last two are not defined by accounting "
    "rules, and other companies may compute them in another way.",
)

LIQUIDITY = (
    "Cash from operations has paid for investments and dividends in each of the years shown. Larger purchases were "
    "financed with notes, and notes that fell due were replaced when rates were favourable.",
    "{short} can draw on a syndicated credit line until it expires in three years. Nothing was drawn at the end of any "
    "of the years shown. The covenant asks for an interest cover of at least four; the actual one was a multiple of "
    "that.",
    "The dividend was raised in every year. Shares were bought back in the amounts approved by the board and in months "
    "in which no results were pending.",
)

MARKET_RISK = (
    "A rise of all currencies against the dollar by a tenth would add about two percent to sales and one percent to "
    "cost. A rise of short rates by one percentage point would cost less than three million dollars a year.",
    "Hedges are made with banks of good standing and for the coming four quarters. None is made for trading.",
)

AUDITOR = (
    "We have audited the consolidated balance sheets of {name} at the end of fiscal {year} and of the year before, and "
    "the related statements of income, of cash flows and of shareholders’ equity for the three years then ended.",
    "In our opinion these statements present fairly, in all material respects, the financial position of the company, "
    "its results and its cash flows.",
    "We planned our work to find errors that matter. The valuation of goodwill took most of our time, because it rests "
    "on forecasts. We compared forecasts of earlier years with what came true, and found them cautious.",
    "Thorne & Abel LLP, auditors of the company for eleven years.",
)

POLICIES = (
    "The statements include {short} and all companies that it controls. Balances between them are left out. The fiscal "
    "year ends on {year_end}.",
    "Revenue is recorded when goods reach the customer. Rebates are deducted as soon as they are likely. Service "
    "contracts are recorded month by month.",
    "Inventories are valued at cost, first in, first out, or at what they can still be sold for if that is less. "
    "Receivables are shown net of what will probably not be paid.",
    "Buildings are depreciated over thirty years, machines over eight to twelve. Goodwill is not amortized. Customer "
    "lists and patents are amortized over ten years.",
    "Making statements requires estimates. The largest ones concern the life of machines, rebates, and taxes that are "
    "disputed.",
)

REGIONS = (
    "Sales are assigned to the region in which the customer receives the goods. No country other than the first one "
    "stands for more than a tenth of them."
)
RESTATED = (
    "Rebates of the prior year had been recorded in the wrong year. The amounts of that year have been revised "
    "throughout this report; the effect on earlier years is too small to be shown. The table sets the amounts that "
    "were reported a year ago beside those of this report."
)
RECEIVABLES = (
    "Customers pay within thirty to sixty days. What will probably not be paid is estimated from the age of the "
    "invoices and from what is known of each customer."
)
INVENTORIES = "Inventories by kind at the end of each year; reserves for slow stocks are smaller than what is shown."
PROPERTY = "Property at cost, and what has been depreciated. Leased assets are included under buildings."
INTANGIBLES = (
    "Goodwill is assigned to the segments and tested for each of them in the fourth quarter. Customer lists and "
    "patents are amortized; the second table shows the years to come, were nothing bought."
)
ACCRUED = "Accrued liabilities by kind. Bonuses are paid in the first quarter of the year that follows."
DEBT = "All notes of {short} are unsecured. The term loan can be repaid at any time without a fee."
LEASES = (
    "{short} rents warehouses, cars and computers. What is owed under leases of more than a year is part of accrued "
    "liabilities and long-term debt; the second table does not deduct interest."
)
TAXES = (
    "Provision for income taxes by authority, and why it differs from the federal rate. Deferred taxes of {short} "
    "changed by a small amount only."
)
RETIREMENT = (
    "A plan that was closed to new members in 2009 pays pensions to those who were there before. Its assets are held "
    "by a trust and are not those of {short}."
)
STOCK = (
    "Options run for ten years and can be used after three. Prices are averages in dollars. What options and awards "
    "cost is in the statement of cash flows."
)
PER_SHARE = "Options whose price is above that of the share are left out, since nobody would use them."
CAPITAL = "What has been paid in for shares. There is one class of shares, and no preferred stock has been issued."
FAIR_VALUE = (
    "Prices of the first level are those of an active market, those of the second are computed from such prices. "
    "{short} holds nothing of the third level. Part of what is shown is included in cash and cash equivalents."
)
HEDGES = (
    "Forwards fix the rate of expected sales and purchases in other currencies for four quarters. Their face value is "
    "no measure of risk; what they were worth at the end of the year is shown under fair value."
)
COMMITMENTS = "Contracts with suppliers that name a smallest quantity, at the prices of the end of the year."
WARRANTIES = "Goods may be returned for sixty days, and faults are mended for two years."
SEGMENTS = (
    "Segments are managed apart and measured before corporate costs. What they own is assigned by what they use, "
    "shared assets by revenue."
)
LONG_LIVED = "Property by the region in which it stands, net of depreciation."
LATER = (
    "{short} is party to claims that are described under Item 3. What was provided for them is part of accrued "
    "liabilities. It has not changed by a material amount in the years shown.",
    "After the end of the year the board raised the quarterly dividend where one is paid, and renewed the credit line "
    "on the same terms. Nothing else has happened that would have to be shown here.",
)
QUARTERS = (
    "The fourth quarter is the strongest, since customers spend what is left of their budgets. Quarters are not "
    "audited."
)
PARENT = (
    "This schedule shows the parent without the companies that it owns. It holds shares in them and most of the debt. "
    "Its figures are not those of {short} as a whole."
)
EXHIBITS = (
    "3.1 Articles of incorporation. 3.2 By-laws. 4.1 Description of the notes. 10.1 Credit agreement. 21 List of "
    "subsidiaries. 23 Consent of the auditors. 31 and 32 Certifications.",
    "Contracts with members of the board are listed in the proxy statement and are not repeated here.",
)
SIGNATURES = "{name} has had this report signed by those who are entitled to do so, in the year {year}."

TOWNS = (
    "Aldermoor", "Birch Landing", "Calloway", "Dunmere", "Eastwick", "Fallow Creek", "Garrick", "Holloway Point",
    "Ivywood", "Juniper Flats", "Kestrel Hill", "Larkmead", "Millrace", "Northing", "Otter Bend", "Pinecrest",
    "Quarry Bank", "Redstone", "Saltmarsh", "Thornbury", "Underhill", "Vale Crossing", "Westerly", "Yarrow",
)  # fmt: skip
USES = ("Production", "Warehouse", "Research", "Offices", "Service")

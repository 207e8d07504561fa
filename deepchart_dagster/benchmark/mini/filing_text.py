"""The sentences that every filing of the mini benchmark has in common."""

from __future__ import annotations

COVER = (
    "{name} had {shares} million shares of common stock outstanding at the end of January {next_year}. The shares are "
    "listed under one class. The company files every report that is due, answers the questions of its auditors and "
    "keeps this report on its web site. All figures in this document are invented for a test of chart generation."
)

ITEMS = (
    ("Item 1", "Business"),
    ("Item 1A", "Risk factors"),
    ("Item 2", "Properties"),
    ("Item 7", "Management's discussion and analysis"),
    ("Item 7A", "Market risk"),
    ("Item 8", "Consolidated balance sheets, statements of income and cash flows, and notes"),
    ("Schedule I", "The parent company alone"),
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
    "year is the calendar year.",
    "Revenue is recorded when goods reach the customer. Rebates are deducted as soon as they are likely. Service "
    "contracts are recorded month by month.",
    "Inventories are valued at cost, first in, first out, or at what they can still be sold for if that is less. "
    "Receivables are shown net of what will probably not be paid.",
    "Buildings are depreciated over thirty years, machines over eight to twelve. Goodwill is not amortized. Customer "
    "lists and patents are amortized over ten years.",
    "Making statements requires estimates. The largest ones concern the life of machines, rebates, and taxes that are "
    "disputed.",
)

REGIONS = "Sales are assigned to the region in which the customer receives the goods."
INVENTORIES = "Inventories by kind at the end of each year; reserves for slow stocks are below one million dollars."
PROPERTY = "Property at cost, and what has been depreciated. Leased assets are included under buildings."
DEBT = "All notes of {short} are unsecured. The term loan can be repaid at any time without a fee."
TAXES = "Provision for income taxes by authority. Deferred taxes of {short} changed by less than one million dollars."
SEGMENTS = (
    "Segments are managed apart and measured by operating income before corporate costs. Assets are not assigned to "
    "segments."
)
QUARTERS = "The fourth quarter is the strongest, since customers spend what is left of their budgets."
PARENT = (
    "This schedule shows the parent without the companies that it owns. It holds shares in them and most of the debt. "
    "Its figures are not those of {short} as a whole."
)
EXHIBITS = (
    "3.1 Articles of incorporation. 3.2 By-laws. 4.1 Description of the notes. 10.1 Credit agreement. 21 List of "
    "subsidiaries. 23 Consent of the auditors. 31 and 32 Certifications.",
    "Contracts with members of the board are listed in the proxy statement and are not repeated here.",
)
SIGNATURES = (
    "{name} has had this report signed by those who are entitled to do so, on the twenty-first of February {year}."
)

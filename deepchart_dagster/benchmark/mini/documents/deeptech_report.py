"""A report on deep-tech companies in fourteen cities: tables, city profiles, company list, charts as pictures.

The evidence of its queries is spread out: funding by city stands in a table, engineers by city in a sentence of each
profile, salaries in a table of each city, the companies in a table over three pages, patents in a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.pictures import Axis, Bar, bar_picture, scatter_picture
from deepchart_dagster.benchmark.mini.report import Report
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-deeptech-report", domain=Domain.ECOSYSTEM, title="Northern Deep-Tech Cities: State of the Field 2024"
)

_COMPANIES_A_PAGE = 12


@dataclass(frozen=True)
class City:
    """Funding in millions of euros; ``engineers`` is a head count."""

    name: str
    country: str
    deals: int
    funding_2024: float
    funding_2023: float
    engineers: int
    start_ups: int
    known_for: str


@dataclass(frozen=True)
class Company:
    """``raised`` in millions of euros since foundation; ``headcount`` None where the company does not tell."""

    name: str
    city: str
    stage: str
    founded: int
    raised: float
    headcount: int | None


CITIES = (
    City("Aarhus", "Denmark", 31, 212.4, 187.9, 9_840, 164, "robot grippers and sensors for farms"),
    City("Bergen", "Norway", 22, 148.7, 171.3, 7_260, 118, "instruments that work on the sea bed"),
    City("Copenhagen", "Denmark", 96, 934.6, 812.5, 38_700, 521, "quantum electronics and enzymes"),
    City("Espoo", "Finland", 58, 641.8, 402.6, 33_150, 287, "cryogenic equipment and small satellites"),
    City("Gothenburg", "Sweden", 47, 388.2, 431.7, 41_900, 236, "power electronics for ships and trucks"),
    City("Helsinki", "Finland", 83, 715.3, 689.4, 29_480, 448, "photonics and software for chip design"),
    City("Linköping", "Sweden", 26, 176.5, 139.2, 18_320, 131, "image sensors and printed electronics"),
    City("Lund", "Sweden", 39, 467.9, 355.8, 14_570, 214, "neutron optics and medical lasers"),
    City("Oslo", "Norway", 62, 503.1, 547.6, 35_220, 339, "carbon capture and subsea power"),
    City("Oulu", "Finland", 29, 131.8, 118.4, 22_760, 152, "radio chips and test equipment"),
    City("Reykjavik", "Iceland", 17, 98.3, 76.1, 4_930, 87, "geothermal drilling and gene sequencing"),
    City("Stockholm", "Sweden", 128, 1_482.7, 1_266.9, 62_400, 702, "batteries, games engines and speech"),
    City("Tampere", "Finland", 24, 119.6, 143.5, 19_880, 126, "machine vision and mining robots"),
    City("Trondheim", "Norway", 33, 257.4, 208.8, 12_640, 173, "acoustics and low-power chips"),
)

COMPANIES = (
    Company("Aldergate Photonics", "Helsinki", "Series B", 2017, 64.2, 118),
    Company("Arcwell Power", "Gothenburg", "Series C", 2015, 142.5, 364),
    Company("Auroral Sensing", "Oulu", "Series A", 2020, 17.8, 41),
    Company("Basalt Energy", "Reykjavik", "Series B", 2018, 58.6, 73),
    Company("Brinewise", "Bergen", "Seed", 2021, 6.4, 19),
    Company("Calyx Enzymes", "Copenhagen", "Series C", 2014, 187.3, 291),
    Company("Coldbox Labs", "Espoo", "Series B", 2018, 93.7, 86),
    Company("Deepnote Acoustics", "Trondheim", "Series A", 2019, 22.9, 57),
    Company("Driftline Subsea", "Oslo", "Series B", 2016, 71.4, 163),
    Company("Eider Robotics", "Aarhus", "Series A", 2019, 26.3, 68),
    Company("Fathom Grid", "Oslo", "Series C", 2015, 128.9, 207),
    Company("Ferrolite", "Tampere", "Series A", 2018, 19.5, 62),
    Company("Fjordchip", "Trondheim", "Series B", 2017, 48.1, 94),
    Company("Glasswing Optics", "Lund", "Series B", 2016, 83.4, 132),
    Company("Hoarfrost Quantum", "Espoo", "Series C", 2016, 214.6, 178),
    Company("Isobar Medical", "Lund", "Series C", 2013, 156.8, 243),
    Company("Juniper Cells", "Stockholm", "Series D", 2012, 612.5, 1_384),
    Company("Kestrel Orbit", "Espoo", "Series B", 2018, 77.2, 109),
    Company("Lanternfish", "Bergen", "Series A", 2020, 14.7, None),
    Company("Lodestone Imaging", "Linköping", "Series B", 2017, 52.3, 88),
    Company("Meridian Speech", "Stockholm", "Series C", 2016, 171.9, 226),
    Company("Moraine Mining", "Tampere", "Series B", 2016, 43.6, 147),
    Company("Nettle Bio", "Copenhagen", "Series B", 2018, 88.5, 104),
    Company("Northlight Fabs", "Helsinki", "Series C", 2015, 133.4, 312),
    Company("Ostrea Pumps", "Gothenburg", "Series A", 2019, 21.7, 75),
    Company("Permafrost Data", "Reykjavik", "Series A", 2020, 16.9, 28),
    Company("Quillwork", "Stockholm", "Series B", 2019, 66.8, 97),
    Company("Rimefall", "Oulu", "Series B", 2017, 39.2, 83),
    Company("Saltire Carbon", "Oslo", "Series B", 2018, 97.6, 121),
    Company("Selkie Marine", "Aarhus", "Seed", 2021, 7.9, 23),
    Company("Skerry Wave", "Trondheim", "Series A", 2019, 24.4, 49),
    Company("Tarn Semiconductors", "Linköping", "Series A", 2020, 28.6, None),
    Company("Thistledown", "Copenhagen", "Series C", 2014, 149.2, 185),
    Company("Umbra Vision", "Gothenburg", "Series B", 2017, 61.5, 136),
    Company("Vantage Cryo", "Helsinki", "Series B", 2018, 72.8, 92),
    Company("Yarrow Materials", "Lund", "Series A", 2020, 31.7, 53),
)

STAGE_NAMES = ("Seed", "Series A", "Series B", "Series C", "Series D")
# Companies and median salary of an engineer (EUR thousand a year) by stage, in the order of STAGE_NAMES.
STAGES = {
    "Aarhus": ((60, 48.1), (43, 52.4), (22, 56.5), (16, 65.0), (7, 69.1)),
    "Bergen": ((47, 50.4), (26, 53.1), (17, 61.8), (8, 66.2), (6, 76.0)),
    "Copenhagen": ((184, 56.2), (141, 60.3), (66, 64.7), (58, 68.6), (31, 73.7)),
    "Espoo": ((113, 53.0), (73, 60.4), (37, 69.5), (25, 73.8), (15, 81.6)),
    "Gothenburg": ((92, 53.2), (70, 56.7), (38, 65.9), (17, 69.6), (9, 80.1)),
    "Helsinki": ((137, 55.0), (106, 62.9), (89, 68.9), (30, 80.2), (27, 84.5)),
    "Linköping": ((44, 49.6), (27, 56.1), (25, 59.3), (15, 65.6), (7, 74.4)),
    "Lund": ((65, 51.0), (43, 57.1), (27, 60.4), (25, 66.9), (5, 76.3)),
    "Oslo": ((105, 57.5), (73, 63.6), (41, 73.6), (40, 78.5), (10, 84.8)),
    "Oulu": ((50, 45.0), (43, 49.3), (19, 57.6), (15, 65.4), (5, 73.4)),
    "Reykjavik": ((28, 54.0), (18, 59.7), (17, 64.0), (8, 71.7), (4, 75.9)),
    "Stockholm": ((269, 58.3), (194, 62.3), (95, 72.6), (77, 79.6), (26, 87.9)),
    "Tampere": ((50, 45.1), (37, 52.0), (23, 60.1), (15, 69.2), (5, 75.4)),
    "Trondheim": ((60, 50.0), (48, 57.2), (29, 63.6), (18, 70.6), (6, 77.6)),
}

# Patents granted in 2023 and in 2024; they stand in pictures alone.
PATENTS = {
    "Aarhus": (62, 61),
    "Bergen": (46, 50),
    "Copenhagen": (408, 500),
    "Espoo": (464, 469),
    "Gothenburg": (452, 431),
    "Helsinki": (144, 178),
    "Linköping": (223, 226),
    "Lund": (180, 169),
    "Oslo": (242, 284),
    "Oulu": (274, 335),
    "Reykjavik": (51, 51),
    "Stockholm": (752, 909),
    "Tampere": (171, 188),
    "Trondheim": (124, 124),
}

_FOREWORD = (
    "This report looks at companies that need a laboratory before they need a market. They make chips, enzymes, "
    "lasers, drills and batteries, and they live in fourteen cities of the north.",
    "We have counted what can be counted: money, deals, people and companies. The money comes from announcements that "
    "two of us read independently; the people come from registers of employers; the companies were asked.",
    "The cities differ less in what they can do than in who pays for it. Some have many engineers and little capital, "
    "others the reverse. That gap is the subject of the second chapter.",
    "All figures, companies and sentences in this report are invented. It exists so that machines can be asked to read "
    "it.",
)

_METHOD = (
    "Funding is the sum of equity rounds that were closed in a calendar year, in millions of euros. Grants, loans and "
    "rounds below half a million are left out. A round counts in the city in which most of the staff works.",
    "Engineers are people with an engineering or science degree who work in a technical job within the city's labour "
    "market, at the end of 2024. The number is rounded to ten.",
    "A start-up is active if it employs somebody and is not older than fifteen years. Companies that were bought are "
    "counted until they lose their name.",
    "Total raised is everything a company has received for shares since it was founded. Headcount is what the company "
    "told us for December 2024; n/a means that it did not answer.",
)

_CHAPTER_ONE = (
    "Fourteen cities received more in 2024 than the year before, taken together. Ten of them grew, four shrank. The "
    "largest city alone received about a quarter of the total.",
    "A year is short in this field, and a single round can move a small city. The table of the year before is printed "
    "for comparison, and should be read together with the first one.",
)

_CHAPTER_TWO = (
    "Money looks for people, but it does not always find them. A city that stands high by its engineers and low by its "
    "funding has more to offer than investors have noticed. The profiles on the following pages give both sides, with "
    "the number of engineers in the text of each.",
    "Read a profile for what a city is good at. Rank it by what it has.",
)

_CHAPTER_THREE = (
    "Thirty-six companies were chosen because their work could not have been done elsewhere. The list is in "
    "alphabetical order and gives what each has raised and how many people it employs.",
    "Raising much is no merit by itself. Capital for each head shows who builds machines and who builds teams.",
)

_PROFILE = (
    "{name} is known for {known_for}. Its companies closed {deals} rounds in 2024, and newcomers find a bench, a lathe "
    "and somebody who knows how to use it.",
    "About {engineers:,} engineers work in the labour market of {name}, and {start_ups} start-ups are active there. "
    "Most of them began within walking distance of a university.",
    "Founders praise short ways and complain of long permits. Rents for laboratories have risen in every year since "
    "2019, and more slowly than those for flats.",
)

_BY_STAGE = (
    "Salaries follow the age of a company more than its field. What {name} pays an engineer in a young company and in "
    "a grown one is set out below; posts that were advertised in December 2024 are counted beside it.",
    "Companies that were bought in the year are left out, and so are those that did not answer. Medians are of base "
    "pay, before options, which matter most where the pay is least.",
)

_FIVE = (
    "Patents are a poor measure of invention and the best one at hand. We count those granted to companies of the "
    "field, in the city in which the first of the inventors lives. The two charts that follow show them for two years.",
    "A city with many engineers has many patents. What a thousand engineers bring forth is a fairer number, and it can "
    "be worked out with the profiles of chapter 2. It puts some small cities first.",
    "Grants come three years after the application. The patents of 2024 are the work of people who were hired in 2020.",
)

_SECTORS = (
    ("Photonics and chips", 41, 1_284.0, 27),
    ("Energy and carbon", 38, 1_517.0, 31),
    ("Bio-based materials", 29, 903.0, 22),
    ("Robots and vision", 33, 742.0, 18),
    ("Space and quantum", 19, 1_132.0, 14),
)

_GLOSSARY = (
    ("Deal", "a round in which shares were sold for money"),
    ("Deep tech", "work in which the laboratory decides more than the market"),
    ("Headcount", "people on the payroll, part-time staff counted by hours"),
    ("Labour market", "the city and the places from which people commute to it"),
    ("Series A to D", "rounds after the seed round, in their order"),
)


class _Cities(Report):
    def __init__(self) -> None:
        super().__init__(DOCUMENT.title, "The Northern Field Office", "Northern Deep-Tech Cities 2024")

    def draw(self) -> bytes:
        self.cover("NORTHERN DEEP-TECH CITIES", "State of the Field 2024", "The Northern Field Office")
        self.page("Foreword", *_FOREWORD)
        self.page("How we counted", *_METHOD)
        self.page("1 Money by city", *_CHAPTER_ONE)
        self._funding_tables()
        self.page("2 People and money", *_CHAPTER_TWO)
        for city in CITIES:
            self._profile(city)
            self._by_stage(city)
        self.page("3 Companies", *_CHAPTER_THREE)
        self._company_pages()
        self._sectors()
        self._patents()
        self.glossary(_GLOSSARY)
        self.page("About the office", "The office has four desks and a long shelf. It is paid by nobody it writes on.")
        return self.pdf()

    def _funding_tables(self) -> None:
        heads = ("City", "Country", "Deals", "Funding", "Mean round")
        self.sheet.new_page()
        self.table(
            "Table 1. Funding by city in 2024 (EUR million)",
            heads,
            [_funding_row(city, city.funding_2024, city.deals) for city in CITIES],
            texts=2,
        )
        self.sheet.paragraph("Figure 1 sets the five largest cities beside their own result of the year before.")
        self.sheet.raster(200, _draw_largest, "Figure 1. Funding of the five largest cities in 2023 and 2024.")
        self.sheet.new_page()
        self.table(
            "Table 2. Funding by city in 2023 (EUR million)",
            heads,
            [_funding_row(city, city.funding_2023, city.deals - 3) for city in CITIES],
            texts=2,
        )
        self.sheet.paragraph("The number of deals in 2023 was corrected for rounds that were announced late.")

    def _profile(self, city: City) -> None:
        values = {name: getattr(city, name) for name in ("name", "known_for", "deals", "engineers", "start_ups")}
        self.page(f"{city.name}, {city.country}", *(text.format(**values) for text in _PROFILE))
        self.sheet.raster(
            190, lambda area: _draw_start_ups(area, city), f"Figure. Active start-ups in {city.name} by year."
        )

    def _by_stage(self, city: City) -> None:
        self.page(f"{city.name} by stage", *(text.format(name=city.name) for text in _BY_STAGE))
        rows = [
            (stage, f"{companies}", f"{salary}", f"{round(companies * 0.8) + number}")
            for number, (stage, (companies, salary)) in enumerate(zip(STAGE_NAMES, STAGES[city.name], strict=True))
        ]
        self.table(
            f"Table. {city.name} by stage (salary in EUR thousand)",
            ("Stage", "Companies", "Median salary", "Open posts"),
            rows,
            texts=1,
        )

    def _company_pages(self) -> None:
        heads = ("Company", "City", "Stage", "Founded", "Total raised", "Headcount")
        for start in range(0, len(COMPANIES), _COMPANIES_A_PAGE):
            self.sheet.new_page()
            continued = ", continued" if start else ""
            rows = [_company_row(company) for company in COMPANIES[start : start + _COMPANIES_A_PAGE]]
            self.table(
                f"Table 3. Companies of the field (total raised in EUR million){continued}", heads, rows, texts=3
            )

    def _sectors(self) -> None:
        self.page("4 Sectors", "Sectors overlap; a company counts where it spends most of its research budget.")
        rows = [(name, f"{n}", f"{money:,.1f}", f"{rounds}") for name, n, money, rounds in _SECTORS]
        self.table(
            "Table 4. Sectors in 2024 (EUR million)", ("Sector", "Companies", "Funding", "Rounds"), rows, texts=1
        )
        self.sheet.paragraph("Sectors with many rounds did not always receive the most money, as Figure 2 shows.")
        self.sheet.raster(210, _draw_rounds, "Figure 2. Funding and rounds by sector.")

    def _patents(self) -> None:
        self.page("5 Patents", *_FIVE)
        for number, (place, year) in enumerate(((1, 2024), (0, 2023)), start=3):
            title = f"Figure {number}. Patents granted in {year}, by city"
            bars = {city: [counts[place]] for city, counts in PATENTS.items()}
            self.bar_page(title, bars, ("Patents",))


def draw() -> bytes:
    return _Cities().draw()


def _funding_row(city: City, funding: float, deals: int) -> tuple[str, ...]:
    return (city.name, city.country, f"{deals}", f"{funding:,.1f}", f"{funding / deals:.2f}")


def _company_row(company: Company) -> tuple[str, ...]:
    headcount = "n/a" if company.headcount is None else f"{company.headcount:,}"
    return (company.name, company.city, company.stage, str(company.founded), f"{company.raised:,.1f}", headcount)


def _draw_largest(area: Area) -> None:
    largest = sorted(CITIES, key=lambda city: -city.funding_2024)[:5]
    groups = {city.name: [Bar(city.funding_2023), Bar(city.funding_2024)] for city in largest}
    bar_picture(area, Axis("EUR million", 0, 1600, 400), groups, ("2023", "2024"))


def _draw_start_ups(area: Area, city: City) -> None:
    share = {2016: 0.52, 2018: 0.63, 2020: 0.74, 2022: 0.9, 2024: 1.0}
    points = [(float(year), city.start_ups * part) for year, part in share.items()]
    step = 200 if city.start_ups > 400 else 100 if city.start_ups > 150 else 50
    top = step * (city.start_ups // step + 1)
    scatter_picture(
        area, Axis("Year", 2016, 2024, 2), Axis("Start-ups", 0, top, step), {"Start-ups": points}, joined=True
    )


def _draw_rounds(area: Area) -> None:
    points = {name: [(float(rounds), money)] for name, _, money, rounds in _SECTORS}
    scatter_picture(area, Axis("Rounds", 10, 35, 5), Axis("EUR million", 0, 2000, 500), points)

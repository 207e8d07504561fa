"""A report on twelve ports that build for the sea: profiles, charts that are pictures, survey sheets that are scans.

Capital and rounds by port stand in pictures alone, jobs in a sentence of each profile, companies in a table; the
cohorts of the survey stand on three sheets that were scanned. Beside them: an earlier year, berths, segments.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.pictures import Axis, Bar, bar_picture, scatter_picture
from deepchart_dagster.benchmark.mini.report import Report
from deepchart_dagster.benchmark.mini.scans import scanned
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-seatech-report", domain=Domain.ECOSYSTEM, title="Ports of Invention 2025: Companies That Build for the Sea"
)


@dataclass(frozen=True)
class Port:
    """``raised`` is the capital of 2020 and of 2024 in millions of euros; ``companies`` those of 2020 and of 2024."""

    name: str
    country: str
    raised: tuple[float, float]
    rounds: int
    companies: tuple[int, int]
    jobs: int
    berths: int
    known_for: str


PORTS = (
    Port("Aveiro", "Portugal", (18.4, 61.7), 14, (31, 58), 1_240, 22, "kelp lines and the machines that harvest them"),
    Port("Bremerhaven", "Germany", (96.3, 128.5), 27, (84, 112), 4_870, 41, "foundations for turbines and sea rescue"),
    Port("Brest", "France", (74.8, 143.2), 31, (66, 109), 3_950, 35, "hydrophones and submarine robots"),
    Port("Burgas", "Bulgaria", (9.7, 16.9), 8, (19, 33), 690, 18, "ballast water and its treatment"),
    Port("Cork", "Ireland", (52.6, 88.4), 23, (47, 71), 2_180, 16, "tidal power and buoys that measure"),
    Port("Esbjerg", "Denmark", (88.1, 214.6), 36, (58, 97), 5_320, 38, "ships that set up and mend wind farms"),
    Port("Gdynia", "Poland", (33.5, 97.8), 25, (52, 103), 3_410, 29, "electric ferries and their charging"),
    Port("Ostend", "Belgium", (61.9, 79.3), 17, (43, 56), 1_760, 24, "sea-bed survey and dredging by robot"),
    Port("Piraeus", "Greece", (44.2, 52.8), 19, (71, 86), 2_930, 57, "routing software and hull cleaning"),
    Port("Rijeka", "Croatia", (12.3, 29.4), 11, (24, 41), 980, 20, "composite hulls and diving gear"),
    Port("Trieste", "Italy", (57.4, 69.1), 16, (39, 54), 2_240, 31, "research ships and ocean models"),
    Port("Vigo", "Spain", (41.8, 105.9), 28, (63, 118), 4_260, 44, "fishing gear that lets the young escape"),
)

STATES = ("Independent", "Bought", "Listed", "Closed")
# The survey's sheets: companies by cohort and by what had become of them, in the order of STATES.
SHEETS = {
    "northern": (
        ("2010-2012", (21, 17, 6, 34)),
        ("2013-2015", (34, 19, 5, 38)),
        ("2016-2018", (57, 22, 4, 35)),
        ("2019-2021", (83, 14, 2, 27)),
        ("2022-2024", (96, 5, 1, 9)),
    ),
    "western": (
        ("2010-2012", (15, 13, 3, 29)),
        ("2013-2015", (27, 16, 4, 31)),
        ("2016-2018", (44, 18, 2, 30)),
        ("2019-2021", (72, 11, 1, 23)),
        ("2022-2024", (88, 4, 0, 12)),
    ),
    "southern": (
        ("2010-2012", (11, 7, 1, 25)),
        ("2013-2015", (18, 10, 2, 28)),
        ("2016-2018", (32, 9, 1, 26)),
        ("2019-2021", (53, 8, 0, 24)),
        ("2022-2024", (67, 3, 0, 14)),
    ),
}

_SEGMENTS = ("Energy", "Robots", "Ships", "Sensors", "Food")
_SEGMENT_SHARES = (0.31, 0.24, 0.19, 0.15, 0.11)

_FOREWORD = (
    "Ports were built to load and unload. Twelve of them have begun to do something else with their sheds: companies "
    "have moved in that build machines, software and living things for the sea.",
    "This is our second report on them. The first one appeared in 2021, and its figures are repeated where a "
    "comparison makes sense. Charts were drawn by hand and then printed, with every value beside its bar, so that "
    "nobody has to measure a bar with a ruler.",
    "All ports are real places. The companies, figures and sentences are invented, so that machines can be asked to "
    "read them.",
)

_METHOD = (
    "Capital is what companies received for shares in a calendar year, in millions of euros. A company belongs to the "
    "port in which most of its staff works, wherever it is registered.",
    "Jobs are counted at the end of 2024 by asking the companies, and by the register of employers for those that did "
    "not answer. They include welders, divers and cooks.",
    "Rounds are counted once, however many investors took part. Grants and loans are in a separate count, which is not "
    "part of this report.",
    "Cohorts come from the survey of the coasts, which was filled in on paper. Its sheets are printed as they came.",
)

_CHAPTER_ONE = (
    "In 2024 all twelve ports received more than in 2020, although not by the same factor. Some that stood at the end "
    "of the list have moved up, and two that stood near its top have not kept pace. Figure 1, two pages further on, "
    "gives both years for each port.",
    "Rounds are shown in Figure 2. Many small rounds and few large ones can add up to the same capital; which of the "
    "two a port has says how old its companies are.",
    "The number of companies grew everywhere. Tables 1 and 2 list them for the two years of the survey.",
)

_PROFILE = (
    "{name} is known for {known_for}. Of its {berths} berths some are let to companies by the month, with power and "
    "water, and with a crane on Tuesdays.",
    "The companies of {name} employ {jobs:,} people, most of them within sight of the water. Every second company says "
    "that it could hire more if there were flats.",
    "The harbour office has one desk for everything that is not a cargo. It answers within a week, which founders "
    "elsewhere find hard to believe.",
)

_SEGMENT_TEXT = (
    "Companies are assigned to the segment that brings most of their income, or is to bring it. The assignment was "
    "made by two of us independently; where we disagreed, the company decided.",
    "In {name} as elsewhere the segments help each other: sensors are tried on robots, robots on ships, and food is "
    "what all three are paid to watch over.",
)

_CHAPTER_THREE = (
    "What becomes of a company? The survey of the coasts asked the ports for all companies founded since 2010, also "
    "for those that are gone. Five cohorts of three years each are told apart.",
    "Companies that were bought count as bought, even where they were closed later. Listed ones are those whose shares "
    "can be bought at an exchange.",
    "The three sheets on the following pages are the survey's own. They add up to the coasts as a whole, which the "
    "survey did not print.",
)

_POLICY = {
    "4 What ports can do": (
        "A port owns what young companies lack: sheds, water, cranes and neighbours who know how metal behaves in "
        "salt. Letting them by the month rather than by the decade costs a port little.",
        "Test areas at sea need eleven permits in one port and two in another. The shorter list belongs to the port "
        "with more companies for each berth, and its companies are not less careful.",
        "Most ports ask for a deposit of a year's rent. Those that take a month's have lost less in the four years "
        "since than the others spent on lawyers.",
    ),
    "5 What states can do": (
        "Half of the capital comes from abroad, and half of that from two countries. Funds that may invest only at "
        "home have left the ports to others.",
        "Apprentices are short everywhere. A welder with a diving licence earns more than the engineer whose robot he "
        "mends, which neither of them finds wrong.",
        "Registers count a company where it was founded. Five hundred jobs at sea are thus counted in capitals that "
        "have no harbour.",
    ),
    "6 What companies told us": (
        "We spoke with forty founders on quays. Asked what they would do otherwise, most would have bought a boat of "
        "their own a year earlier.",
        "Few complained of the weather. Many complained of the harbour dues, and those in ports with low dues "
        "complained no less.",
        "Nobody could name a competitor in the same port. Everybody could name a friend.",
    ),
}

_WORDS = (
    ("Berth", "a place for one ship at a quay, whatever its length"),
    ("Capital", "money received for shares"),
    ("Cohort", "companies founded in the same three years"),
    ("Round", "an occasion on which shares were sold, counted once"),
    ("Segment", "what a company earns its money with, or wants to"),
)


def draw() -> bytes:
    report = _Ports(DOCUMENT.title, "The Quay Office", "Ports of Invention 2025")
    report.write()
    return scanned(report.pdf(), report.sheets)


class _Ports(Report):
    sheets: tuple[int, ...] = ()

    def write(self) -> None:
        self.cover("PORTS OF INVENTION", "Companies That Build for the Sea, 2025", "The Quay Office")
        self.page("Foreword", *_FOREWORD)
        self.page("How we counted", *_METHOD)
        self.page("1 Capital and companies", *_CHAPTER_ONE)
        self.sheet.raster(190, _draw_companies, "Figure A. Companies of six of the ports in 2020 and in 2024.")
        self._companies(1, 2024)
        self.bar_page(
            "Figure 1. Capital raised in 2020 and in 2024 (EUR million)",
            {port.name: port.raised for port in PORTS},
            ("2020", "2024"),
        )
        self.bar_page("Figure 2. Rounds closed in 2024", {port.name: [port.rounds] for port in PORTS}, ("Rounds",))
        self._companies(0, 2020)
        self.page("2 Twelve ports", "Ports stand in alphabetical order, two pages each.")
        for port in PORTS:
            self._profile(port)
        self.page("3 What becomes of companies", *_CHAPTER_THREE)
        self._survey()
        for heading, paragraphs in _POLICY.items():
            self.page(heading, *paragraphs)
        self.glossary(_WORDS)
        self.page("About the office", "The office stands on a quay. Its windows were last cleaned by rain.")

    def _companies(self, place: int, year: int) -> None:
        self.sheet.new_page()
        rows = [(port.name, port.country, f"{port.companies[place]}", f"{port.berths}") for port in PORTS]
        number = 1 if year == 2024 else 2
        caption = f"Table {number}. Companies by port at the end of {year}"
        self.table(caption, ("Port", "Country", "Companies", "Berths"), rows, texts=2)
        self.sheet.paragraph("Companies that had no staff of their own at the end of the year are left out.")

    def _profile(self, port: Port) -> None:
        facts = {"name": port.name, "known_for": port.known_for, "berths": port.berths, "jobs": port.jobs}
        self.page(f"{port.name}, {port.country}", *(text.format(**facts) for text in _PROFILE))
        self.sheet.raster(190, lambda area: _draw_dues(area, port), f"Figure. Harbour dues in {port.name} by year.")
        self.page(f"{port.name} by segment", *(text.format(name=port.name) for text in _SEGMENT_TEXT))
        shares = _SEGMENT_SHARES[port.berths % 5 :] + _SEGMENT_SHARES[: port.berths % 5]
        rows = [
            (segment, f"{round(port.companies[1] * share)}", f"{round(port.jobs * share):,}")
            for segment, share in zip(_SEGMENTS, shares, strict=True)
        ]
        self.table(f"Table. {port.name} by segment", ("Segment", "Companies", "Jobs"), rows, texts=1)

    def _survey(self) -> None:
        for number, (coast, cohorts) in enumerate(SHEETS.items(), start=1):
            self.page(f"Survey of the coasts, sheet {number} of {len(SHEETS)}")
            rows = [(cohort, *(f"{n}" for n in counts), f"{sum(counts)}") for cohort, counts in cohorts]
            caption = f"Sheet {number}. Companies of the {coast} coast by cohort"
            self.table(caption, ("Cohort", *STATES, "All"), rows, texts=1)
            self.sheet.paragraph("Filled in by the harbour office and checked by a second person on the same day.")
            self.sheets += (self.sheet.page,)


def _draw_companies(area: Area) -> None:
    groups = {port.name: [Bar(port.companies[0]), Bar(port.companies[1])] for port in PORTS[:6]}
    bar_picture(area, Axis("Companies", 0, 125, 25), groups, ("2020", "2024"))


def _draw_dues(area: Area, port: Port) -> None:
    points = [(float(year), port.berths * 2.5 + 3.5 * (year - 2020) + port.rounds % 7) for year in range(2020, 2025)]
    scatter_picture(area, Axis("Year", 2020, 2024, 1), Axis("EUR per metre", 0, 180, 30), {"Dues": points}, joined=True)

"""A paper on copper and water fleas: dose and response, infection, heart rate, and the same again for zinc."""

from __future__ import annotations

from math import exp, log
from statistics import mean

from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.paper import Front, Paper, data_block
from deepchart_dagster.benchmark.mini.pictures import (
    Axis,
    Spread,
    box_picture,
    interval_picture,
    scatter_picture,
)
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-daphnia-paper",
    domain=Domain.ACADEMIC,
    title="Copper slows the heart of water fleas and opens them to a parasite, and peat holds both back",
)

# Figure S1 and its data, printed in the supplement: the shape of Figure 2's data, another metal.
_ZINC = (
    ("Soft water", "50", "140", "1", "3", "3", "1"),
    ("Soft water", "100", "141", "11", "5", "11", "7"),
    ("Soft water", "200", "142", "19", "16", "14", "16"),
    ("Soft water", "400", "143", "20", "18", "19", "20"),
    ("Hard water", "50", "210", "0", "0", "0", "0"),
    ("Hard water", "100", "211", "3", "0", "0", "0"),
    ("Hard water", "200", "212", "1", "3", "5", "3"),
    ("Hard water", "400", "213", "17", "11", "14", "17"),
    ("Peat water", "50", "280", "0", "0", "0", "0"),
    ("Peat water", "100", "281", "0", "0", "0", "0"),
    ("Peat water", "200", "282", "1", "1", "0", "2"),
    ("Peat water", "400", "283", "11", "10", "11", "5"),
)

# Figure S2, an earlier survey of the same ponds.
_EARLIER_PONDS = (
    ("Alder pond", "201", "64", "19", "71", "16"),
    ("Brick pond", "218", "58", "17", "60", "18"),
    ("Mill pond", "235", "81", "29", "77", "21"),
    ("Reed pond", "269", "73", "22", "69", "17"),
)

_ABSTRACT = (
    "Copper reaches ponds from roofs, vineyards and boats. We asked how much of it stops a water flea, what it does to "
    "those that go on swimming, and whether brown water protects them. Animals of one clone were kept in soft, hard "
    "and peaty water at six concentrations. Peat shifted the response by a factor of five. Far below the "
    "concentrations that stop an animal the heart slowed and became irregular, and in six ponds exposed animals "
    "carried a common parasite more often than others did."
)

_INTRODUCTION = (
    "A water flea is a glass animal: the heart can be seen to beat, the gut to empty, the eggs to divide. This has "
    "made it the animal on which the poison of waters is tried. Rules for metals rest in good part on the "
    "concentration at which half of the fleas lie still after two days.",
    "That number is known to depend on the water. Calcium competes with copper for the same places on the gill, and "
    "brown substances bind it before it gets there. How much each of the two does is seldom measured in one laboratory "
    "with one clone.",
    "Lying still, moreover, is the last thing that happens to a flea. Before that it eats less, its heart slows, and "
    "its defence against parasites suffers. Whether such effects show in ponds, where copper is low and comes in "
    "pulses after rain, is an open question. We bring the three together here.",
)

_METHODS = (
    "The clone was founded by one female from a cattle trough and has been kept for eleven years. Animals were less "
    "than a day old when a test began. They were not fed during the two days of a test.",
    "Soft and hard water were mixed from salts; peaty water was soft water that had stood over washed peat for a month "
    "and was filtered. Copper was added as sulphate and measured at the beginning and at the end. The numbers given "
    "are the intended concentrations, from which the measured ones differed by less than six percent.",
    "Four vials with twenty animals each were used at every concentration. An animal that did not swim within fifteen "
    "seconds after the vial had been turned was counted as immobile. The share of a concentration is given as the mean "
    "of its vials with the standard error of the mean. For each water a straight line was fitted to the empirical "
    "logits by ordinary least squares, with the logarithm of the concentration as the independent variable.",
    "For the heart rate single animals were held on a slide in a drop of their water, filmed for a minute, and counted "
    "by two people. For the survey the ponds were visited once; sleeves of netting with a copper strip had hung there "
    "for three weeks beside sleeves without one. Every animal of a sleeve was cleared and searched for the parasite.",
    "Odds ratios are given with Woolf's intervals. Those of the ponds were combined with weights that are the inverse "
    "of their variances.",
)

_RESULTS_DOSE = (
    "No animal was lost in water without copper. In soft water half of the animals lay still at a concentration that "
    "did nothing visible in the two other waters (Figure 2). Hard water shifted the curve to the right by a factor of "
    "three, and peat, without any more calcium, by more than five. The curve in peaty water was also flatter, as one "
    "would expect if the brown substances differ in how firmly they hold the metal.",
    "Vials of one concentration agreed well except near the middle of a curve, where chance has most to say. The same "
    "tests were made with zinc (Figure S1), which needs some seven times as much for the same effect.",
)

_RESULTS_PONDS = (
    "In every one of the six ponds the parasite was found more often in sleeves with copper (Figure 3). Taken one by "
    "one the ponds allow no firm statement in three cases, since the intervals are wide; taken together they do. There "
    "was no sign that the ponds differ by more than chance would make them.",
    "An earlier and smaller survey of four of the ponds points the same way (Figure S2).",
)

_RESULTS_HEART = (
    "The heart beat about three hundred times a minute in clean water. At two micrograms no change could be seen; at "
    "eight the rate had fallen, and what is more, animals had become unlike each other (Figure 4). Some beat as fast "
    "as those in clean water, others at half their rate. At thirty-two micrograms all were slow.",
    "Animals that were put back into clean water recovered within a day, with the exception of four from the highest "
    "concentration.",
)

_DISCUSSION = (
    "Three waters, one clone and one pair of hands give three curves that differ by more than most rules allow for. A "
    "limit that protects fleas in soft water is stricter than peaty ponds need, and one derived in hard water does not "
    "protect soft ones. Nothing in this is new in kind; the size of the peat effect is.",
    "The spread of heart rates at the middle concentration deserves a remark. A mean would have shown a modest "
    "decline. The shape shows two kinds of animals, those that cope and those that do not, although all are of one "
    "clone. Age is no explanation, and neither is size. It may be a matter of when an animal last moulted, since the "
    "new shell binds copper for some hours.",
    "An animal whose heart is slow moves less water past its gills and less blood through its body. That it falls to a "
    "parasite more easily is plausible. The sleeves, however, differ in more than copper: the strip grew algae, and a "
    "richer table brings more spores into the gut. The experiment that separates the two has to feed spores in "
    "numbers.",
    "We see two uses. Tests of metals ought to report the brownness of the water beside its hardness. And where a pond "
    "is to be judged, a film of twenty hearts takes an hour and tells more than two days of waiting for animals to "
    "stop.",
)

_SUPPLEMENT = (
    "The tests with zinc were made in the same weeks with animals of the same broods. Four concentrations were used, "
    "since solutions above four hundred micrograms became cloudy. Shelf numbers name the place in the climate chamber.",
    "The earlier survey used shorter sleeves, and a clearing agent that was later given up because it dissolved the "
    "smallest spores. Its counts are therefore too low, in both kinds of sleeves by about the same share.",
)

_REFERENCES = (
    "Aldous P, Brandt K. The glass animal: two centuries of looking through water fleas. Annals of Small Waters 6.",
    "Chidi O. Calcium against copper at the gill. Journal of Invented Ecology 17.",
    "Dahlberg S, Moreau T. Brown water and what it holds. Annals of Small Waters 9.",
    "Endo Y. A heart in a drop: filming what beats. Methods of the Field Laboratory 14.",
    "Fairweather L, Quist B. Sleeves of netting as ponds within ponds. Methods of the Field Laboratory 15.",
    "Gallo R. Parasites that wait in the mud. Letters from the Field Station 8.",
    "Hjort N, Ibarra V. Empirical logits and when they will do. Methods of the Field Laboratory 10.",
    "Jansky D. Rain on copper roofs: a year of gutters. Journal of Invented Ecology 19.",
)


def draw() -> bytes:
    paper = Paper(
        Front(
            title=DOCUMENT.title,
            authors="W. Achterberg, L. Ndiaye and F. Solheim",
            affiliation="Laboratory of Invented Waters, Heron Quay",
            abstract=_ABSTRACT,
        )
    )
    paper.section("1 Introduction", *_INTRODUCTION)
    paper.section("2 Material and methods", *_METHODS)
    paper.table("Table 1. The three waters.", ("Quantity", "Soft", "Hard", "Peat"), (
        ("Calcium, mg/L", "8.2", "61.5", "8.4"),
        ("Carbon, mg/L", "0.4", "0.5", "11.3"),
        ("pH", "7.1", "8.0", "6.6"),
    ))  # fmt: skip
    paper.sheet.picture(
        190, _recovery, "Figure 1. Copper in solution during a test, measured in vials without animals."
    )
    paper.section("3 Results", *_RESULTS_DOSE)
    caption = "Figure 2. Immobile animals after 48 hours against copper in three waters, means of four vials."
    paper.sheet.picture(220, _doses, caption)
    paper.sheet.paragraphs(_RESULTS_PONDS)
    paper.sheet.picture(200, _ponds, "Figure 3. Odds ratio of infection with copper against without, by pond.")
    paper.sheet.paragraphs(_RESULTS_HEART)
    paper.sheet.picture(210, _hearts, "Figure 4. Heart rate of single animals at four concentrations of copper.")
    paper.section("4 Discussion", *_DISCUSSION, new_page=True)
    paper.section("Data availability", "Counts behind the figures are printed here or kept by the authors.")
    paper.section("Supplement. Zinc, and an earlier survey", *_SUPPLEMENT, new_page=True)
    paper.table("Data for Figure S1. Immobile animals among the twenty of each vial after 48 hours.",
                ("Water", "Zinc (µg/L)", "Shelf", "Vial 1", "Vial 2", "Vial 3", "Vial 4"), _ZINC)  # fmt: skip
    paper.table("Data for Figure S2. Earlier survey: animals examined and infected.",
                ("Pond", "Map grid", "Cu seen", "Cu ill", "Clean seen", "Clean ill"), _EARLIER_PONDS)  # fmt: skip
    paper.references(*_REFERENCES)
    return paper.pdf()


def _recovery(area: Area) -> None:
    hours = (0, 12, 24, 36, 48)
    shares = {"Soft": (100, 99, 98, 97, 97), "Hard": (100, 98, 97, 96, 95), "Peat": (100, 97, 95, 95, 94)}
    scatter_picture(
        area,
        Axis("Hours", 0, 48, 12),
        Axis("% of the beginning", 0, 100, 20),
        {water: list(zip(hours, values, strict=True)) for water, values in shares.items()},
        joined=True,
    )


def _doses(area: Area) -> None:
    points: dict[str, list[tuple[float, float]]] = {}
    for water, dose, _, *vials in data_block("academic-daphnia-dose/figure-2.md"):
        points.setdefault(water, []).append((log(float(dose), 2), 5 * mean(map(float, vials))))
    scatter_picture(
        area, Axis("Copper, doublings of 1 µg/L", 2, 8, 1), Axis("Immobile, %", 0, 100, 20), points, joined=True
    )


def _ponds(area: Area) -> None:
    rows = {}
    for pond, _, *counts in data_block("academic-daphnia-ponds/figure-3.md"):
        n, ill, n_clean, ill_clean = map(float, counts)
        ratio = log(ill / (n - ill) * (n_clean - ill_clean) / ill_clean)
        reach = 1.96 * (1 / ill + 1 / (n - ill) + 1 / ill_clean + 1 / (n_clean - ill_clean)) ** 0.5
        rows[pond] = (exp(ratio - reach), exp(ratio), exp(ratio + reach))
    interval_picture(area, Axis("Odds ratio", 0, 5, 1), rows)


def _hearts(area: Area) -> None:
    rates = {
        copper: list(map(float, animals)) for copper, _, *animals in data_block("academic-daphnia-heart/figure-4.md")
    }
    box_picture(
        area, Axis("Beats per minute", 150, 375, 25), {copper: Spread.of(values) for copper, values in rates.items()}
    )

"""A paper on a lake's nutrients: phosphorus in the mud, nitrogen on its way, profiles of lakes, and a supplement.

The supplement numbers its figures from 1 again, so that the paper has two figures 2, of a wet and of a dry year.
"""

from __future__ import annotations

from statistics import mean

from deepchart_dagster.benchmark.mini.diagrams import band_picture, grid_picture, ring_picture
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.paper import Front, Paper, data_block
from deepchart_dagster.benchmark.mini.pictures import Axis, Bar, bar_picture, scatter_picture
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-lake-paper",
    domain=Domain.ACADEMIC,
    title="Half of the nitrogen stays behind: nutrients of a shallow lake in a wet and in a dry year",
)

# The supplement's Figure 2, with the shape of the data of the paper's own.
_DRY_YEAR = (
    ("Mobile", "Loosely bound", "7", "0.170", "0.169", "0.118", "0.147", "0.128"),
    ("Mobile", "Iron-bound", "10", "0.540", "0.487", "0.496", "0.510", "0.446"),
    ("Mobile", "Organic", "13", "0.366", "0.329", "0.457", "0.341", "0.362"),
    ("Permanent", "Aluminium-bound", "16", "0.242", "0.253", "0.278", "0.343", "0.342"),
    ("Permanent", "Calcium-bound", "19", "0.593", "0.526", "0.707", "0.498", "0.510"),
    ("Permanent", "Residual", "22", "0.224", "0.184", "0.218", "0.237", "0.209"),
)

# Nitrogen again, but of a pond upstream: Table 2.
_POND_FLOWS = (
    ("Streams", "Outflow", "8.4", "9.1", "7.7"),
    ("Streams", "Sediment", "2.9", "3.3", "2.6"),
    ("Groundwater", "Outflow", "1.2", "1.4", "1.1"),
    ("Rain", "Air", "0.4", "0.5", "0.4"),
)

_ABSTRACT = (
    "Lakes are said to clean the water that runs through them. We measured what enters and what leaves a shallow lake "
    "in three years, how phosphorus lies in its mud in a wet and in a dry one, and how the lake compares with seven "
    "others. About half of the nitrogen did not leave with the water. Of the phosphorus in the upper mud somewhat more "
    "than half is bound so loosely that a warm summer can bring it back."
)

_INTRODUCTION = (
    "What a farmer spreads and rain does not leave in the field arrives in a lake. Some of it passes through, some "
    "sinks, some is breathed out by bacteria as gas. A lake that keeps much is a help to the river below and a burden "
    "to itself.",
    "Nitrogen and phosphorus fare differently. Nitrogen can leave for good, into the air. Phosphorus cannot: it is "
    "buried or it comes back. Whether it comes back depends on what it is bound to. Iron lets go of it when the mud "
    "runs out of oxygen, calcium hardly ever does, and what is bound in leaves and algae is set free as they rot.",
    "Blackwater is a good lake to ask, because its three streams join just above it and it has one outflow. It has "
    "been too green for bathing in most summers since records began. We report three years of nitrogen, two years of "
    "mud, and one summer in eight lakes.",
)

_METHODS = (
    "Streams and outflow were gauged every hour and sampled every week, after storms every six hours. Groundwater was "
    "estimated from twelve wells and from the difference of gauges along the shore. Rain was collected on a raft. The "
    "loss to the air is what a chamber on the raft showed, extended to the lake with its temperature; what went into "
    "the sediment was caught in traps, and what plants held was weighed when they were cut in October.",
    "Each way that nitrogen can take was measured by itself, so that the sums of what entered and of what left need "
    "not agree. They did within four percent in each year, and have been adjusted to each other in proportion.",
    "Five cores were taken on one day in each of two summers at a depth of five metres. The upper four centimetres "
    "were extracted in six steps, from salt water to hot acid. Fractions that the first, second and fourth step "
    "dissolve are called mobile, the others permanent. Contents are in milligrams of phosphorus for each gram of dry "
    "matter.",
    "The eight lakes were sampled in four weeks of one summer, at their deepest points, in the upper two metres. For "
    "the comparison every quantity was centred on the mean of the lakes and divided by their sample standard "
    "deviation.",
)

_RESULTS_MUD = (
    "In the wet year the mud of the lake held about two milligrams of phosphorus a gram (Figure 2). Iron held most, "
    "then calcium. Cores differed by some ten percent in the large fractions and more in the small ones. The dry year, "
    "which is shown in the supplement, had less with iron and more with calcium.",
    "Mud from below ten centimetres had the same sum, but almost nothing of the loosely bound fraction.",
)

_RESULTS_NITROGEN = (
    "Most of the nitrogen came with the streams, and most of that left by the outflow (Figure 3). Groundwater carried "
    "less than half as much; since it seeps in through the mud, where bacteria wait for it, a smaller share of it "
    "reached the outflow. What rain brought was caught by plants and mud or went back into the air.",
    "Years differed in amounts more than in shares. The second year was the wettest. A pond upstream, which the "
    "northern stream passes, keeps a smaller share (Table 2).",
)

_RESULTS_LAKES = (
    "Eight lakes fall into two kinds and a middle (Figure 4). Deep lakes are clear and poor, shallow ones green and "
    "rich. Depth alone orders them nearly as well as phosphorus does. Eskadale is richer in algae than its depth would "
    "suggest, Drumlin poorer.",
    "The order of lakes by nitrogen is the same as by phosphorus but for the first two.",
)

_DISCUSSION = (
    "That half of the nitrogen does not leave with the water is in the middle of what has been reported for lakes of "
    "this depth. Most of what stays behind went into the air or into mud. The lake is thus of use to the river. "
    "The price is paid in the mud.",
    "Of the phosphorus there, more than half lies in fractions that can be mobilised. If the upper four centimetres "
    "gave back a tenth of it in one warm month, the water would hold three times as much as it does now. This has "
    "happened twice in thirty years, both times after winters without ice.",
    "Fractions are defined by what dissolves them. Names such as iron-bound are a manner of speaking: some of the "
    "calcium phosphate is so fine that the second step takes it, and some organic matter holds iron. Wet and dry years "
    "differed in the direction that one expects when less iron arrives from the fields. Two years are not enough to "
    "say more.",
    "Managers have asked whether dredging would help. It would remove the loosely bound fraction for a few years. "
    "Holding back iron-rich water in the northern stream, which is cheaper, would do the opposite of good. We suggest "
    "to leave the mud where it is and to widen the belt of reeds, which takes both nutrients and can be cut.",
)

_SUPPLEMENT = (
    "Figures of the supplement are numbered by themselves. Everything was done as described in the paper, a year later "
    "and after a summer with a third less rain. The same person took the cores, at the same buoy.",
    "Differences between the two years should not be read core by core: a core is not taken twice at the same place.",
)

_REFERENCES = (
    "Abara U, Lindgren J. What a lake gives back: phosphorus and warm winters. Annals of Small Waters 11.",
    "Bellamy C. Six steps from salt to acid. Methods of the Field Laboratory 7.",
    "Cordero M, Eklund A. Chambers on rafts and the breath of lakes. Methods of the Field Laboratory 16.",
    "Deane R. Groundwater, the stream one does not see. Journal of Invented Ecology 13.",
    "Farkas Z, Gunn H. Reeds as a filter that can be cut. Annals of Small Waters 12.",
    "Haugen L. Ice and the following summer. Letters from the Field Station 10.",
    "Ilves K, Jarman P. Deep and clear, shallow and green: a survey of sixty lakes. Journal of Invented Ecology 20.",
    "Kovac S. Budgets that close, and why they should not. Methods of the Field Laboratory 18.",
)


def draw() -> bytes:
    paper = Paper(
        Front(
            title=DOCUMENT.title,
            authors="R. Castellan, H. Ostrowska and B. Tveit",
            affiliation="Laboratory of Invented Waters, Heron Quay",
            abstract=_ABSTRACT,
        )
    )
    paper.section("1 Introduction", *_INTRODUCTION)
    paper.section("2 Material and methods", *_METHODS)
    paper.table("Table 1. Blackwater and its land.", ("Quantity", "Value"), (
        ("Area, km²", "3.7"),
        ("Mean depth, m", "6.4"),
        ("Land, km²", "118"),
    ))  # fmt: skip
    paper.sheet.picture(190, _rain, "Figure 1. Rain on the lake by quarter in a wet and in a dry year.")
    paper.section("3 Results", *_RESULTS_MUD)
    caption = "Figure 2. Phosphorus fractions of the surface sediment in the wet year, mean of five cores."
    paper.sheet.picture(230, _wet_mud, caption)
    paper.sheet.paragraphs(_RESULTS_NITROGEN)
    caption = "Figure 3. Nitrogen through the lake, mean of three years; bands are as wide as what flows."
    paper.sheet.picture(220, _nitrogen, caption)
    paper.table("Table 2. Nitrogen through the pond upstream, tonnes a year.",
                ("From", "To", "2021", "2022", "2023"), _POND_FLOWS, labels=2)  # fmt: skip
    paper.sheet.paragraphs(_RESULTS_LAKES)
    caption = "Figure 4. Eight lakes by six quantities, from light (the lowest of a column) to dark (its highest)."
    paper.sheet.picture(230, _lakes, caption)
    paper.section("4 Discussion", *_DISCUSSION, new_page=True)
    paper.section("Data availability", "Measurements behind the figures are printed here or kept by the authors.")
    paper.section("Supplement. The dry year", *_SUPPLEMENT, new_page=True)
    paper.sheet.picture(180, _gauge, "Figure 1. Level of the lake in the dry year.")
    caption = "Figure 2. Phosphorus fractions of the same place in the dry year, mean of five cores."
    paper.sheet.picture(220, _dry_mud, caption)
    paper.table("Data for Figure 2 of the supplement. Phosphorus fractions in the dry year, mg P per g dry matter.",
                ("Group", "Fraction", "Step", *(f"Core {number}" for number in range(1, 6))), _DRY_YEAR,
                labels=2)  # fmt: skip
    paper.references(*_REFERENCES)
    return paper.pdf()


def _rain(area: Area) -> None:
    wet, dry = (212, 243, 301, 268), (158, 131, 147, 196)
    names = ("First", "Second", "Third", "Fourth")
    groups = {name: [Bar(a), Bar(b)] for name, a, b in zip(names, wet, dry, strict=True)}
    bar_picture(area, Axis("Rain, mm", 0, 350, 50), groups, ("Wet year", "Dry year"))


def _gauge(area: Area) -> None:
    levels = [(float(month), 132 - 4.5 * min(month, 18 - month)) for month in range(1, 13)]
    scatter_picture(area, Axis("Month", 1, 12, 1), Axis("Level, cm", 80, 140, 10), {"Lake": levels}, joined=True)


def _wet_mud(area: Area) -> None:
    _mud(area, data_block("academic-lake-phosphorus/figure-2.md"))


def _dry_mud(area: Area) -> None:
    _mud(area, [list(row) for row in _DRY_YEAR])


def _mud(area: Area, rows: list[list[str]]) -> None:
    groups: dict[str, dict[str, float]] = {}
    for group, fraction, _, *cores in rows:
        groups.setdefault(group, {})[fraction] = mean(map(float, cores))
    ring_picture(area, groups)


def _nitrogen(area: Area) -> None:
    flows: dict[str, dict[str, float]] = {}
    for source, sink, _, *years in data_block("academic-lake-nitrogen/figure-3.md"):
        flows.setdefault(source, {})[sink] = mean(map(float, years))
    band_picture(area, flows)


def _lakes(area: Area) -> None:
    rows = {lake: list(map(float, values)) for lake, _, *values in data_block("academic-lake-profiles/figure-4.md")}
    grid_picture(area, ("Depth", "Transparency", "Phosphorus", "Nitrogen", "Chlorophyll", "pH"), rows)

"""A paper on the roots of barley in dry soil: three lines, three treatments, and figures that look alike."""

from __future__ import annotations

from statistics import mean, stdev

from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.paper import Front, Paper, data_block
from deepchart_dagster.benchmark.mini.pictures import Axis, Bar, Spread, bar_picture, box_picture, scatter_picture
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-barley-paper",
    domain=Domain.ACADEMIC,
    title="A root fungus restores respiration of drought-stressed barley when the ABP1 transporter is present",
)

_LINES = ("Wild type", "abp1 mutant", "Complemented line")
_TREATMENTS = ("Well watered", "Drought", "Drought + fungus")
_PLANTS = tuple(f"Plant {number}" for number in range(1, 7))

# What Figure 2 shows, printed as Table 2: the same shape as the data of Figure 3, another quantity.
_WATER_CONTENT = (
    ("Wild type", "Well watered", "88.1", "87.4", "89.0", "86.9", "88.6", "87.7"),
    ("Wild type", "Drought", "71.3", "69.8", "72.6", "70.4", "68.9", "71.9"),
    ("Wild type", "Drought + fungus", "79.5", "80.8", "78.7", "81.2", "79.9", "80.3"),
    ("abp1 mutant", "Well watered", "87.2", "86.5", "88.3", "87.9", "86.1", "87.0"),
    ("abp1 mutant", "Drought", "68.4", "67.1", "69.5", "66.8", "68.0", "67.7"),
    ("abp1 mutant", "Drought + fungus", "70.2", "69.1", "71.0", "68.7", "69.9", "70.6"),
    ("Complemented line", "Well watered", "87.8", "88.4", "86.7", "88.9", "87.3", "88.0"),
    ("Complemented line", "Drought", "70.9", "69.4", "71.6", "70.1", "69.0", "70.7"),
    ("Complemented line", "Drought + fungus", "78.8", "79.7", "78.1", "80.5", "79.0", "79.3"),
)

# What Figure S1 shows, printed in the appendix: the shape of the data of Figure 4, of leaves.
_LEAF_ACID = (
    ("Well watered", "66.6", "77.9", "71.9", "79.5", "103.3", "77.5", "84.4", "67.7"),
    ("Fungus alone", "83.1", "91.1", "84.7", "88.6", "86.4", "77.0", "90.2", "78.7"),
    ("Drought", "221.7", "171.8", "196.8", "182.4", "202.4", "169.8", "203.4", "179.8"),
    ("Drought + fungus", "150.4", "139.7", "131.6", "116.1", "142.1", "137.1", "156.8", "122.9"),
)

_ABSTRACT = (
    "Roots that run dry breathe less, and a plant that breathes less takes up less. We asked whether a fungus that "
    "lives in the root cortex can keep respiration going in dry soil, and whether the transporter ABP1 is needed for "
    "it. Barley of three lines was grown with full water, with little water, and with little water and the fungus. "
    "Drought lowered respiration in all lines. The fungus brought it back in the wild type and in a line in which the "
    "gene had been put back, but hardly in the mutant. We conclude that the benefit depends on ABP1."
)

_INTRODUCTION = (
    "A dry summer costs more barley than any disease. Breeders have long selected for deep roots, which reach water "
    "that shallow roots do not. Depth, however, is paid for with sugar, and a plant that spends its sugar on roots has "
    "less of it for grain. Another way is to keep the roots working that are there already.",
    "Fungi that live between the cells of the cortex change how roots work. Some of them lead water along their "
    "threads; others loosen the walls through which it has to pass. Reports agree that colonised plants wilt later. "
    "They disagree on the reason, because water content, growth and respiration were measured on different plants.",
    "ABP1 is a transporter of the inner cortex. It is switched on when the soil dries and when the fungus arrives, and "
    "plants without it look normal as long as they are watered. That makes it a candidate for the link between the "
    "two. Here we measure water content and respiration of the same roots, in plants with and without ABP1.",
)

_METHODS = (
    "Seeds of the cultivar Lenta, of the mutant abp1 in the same background and of a complemented line were sterilised "
    "and germinated on paper. Seedlings of equal length went into tubes with washed sand and a slow nutrient "
    "solution, one plant a tube. Tubes stood in a growth chamber with sixteen hours of light, in an order drawn by "
    "lot.",
    "Well watered plants received water to three quarters of the capacity of the sand. Under drought the water was "
    "held at one quarter from day fourteen on. The fungus was added as spores on day seven; plants without it received "
    "spores that had been boiled. Colonisation was confirmed under the microscope in two root pieces of every plant.",
    "On day thirty-five roots were washed for one minute and cut. One half was weighed, dried and weighed again for "
    "the water content. The other half went into a chamber with an oxygen electrode. Respiration was read over ten "
    "minutes after five minutes of rest, and is given per dry weight.",
    "Six plants were measured in each of the nine groups. Groups are described by the mean and the standard error of "
    "the mean, which is the sample standard deviation divided by the square root of the number of plants. No plant was "
    "left out.",
)

_RESULTS_WATER = (
    "Drought lowered the water content of roots in all three lines by about a fifth (Figure 2, Table 2). The fungus "
    "restored roughly half of what was lost in the wild type and in the complemented line. In the mutant it restored "
    "little. Shoots followed the same order, though with smaller differences.",
    "The soil itself was equally dry with and without the fungus. What differed was what the root held on to.",
)

_RESULTS_RESPIRATION = (
    "Respiration fell more steeply than water content (Figure 3). With full water the three lines did not differ. "
    "Under drought the wild type lost nearly half of its respiration and the mutant more than half. With the fungus "
    "the wild type came close to the watered plants, and so did the complemented line, whereas the mutant stayed where "
    "the drought had left it.",
    "The order of the groups was the same when respiration was related to fresh weight. Variation between plants was "
    "of the same size in all groups, so that the standard errors are similar too.",
    "Root length, which was measured in a second set of plants, does not explain the difference (Table 3): the fungus "
    "made roots a little shorter in every line.",
)

_RESULTS_ACID = (
    "Abscisic acid, by which a dry root warns the leaves, was measured in eight further plants of the wild type for "
    "each of four treatments (Figure 4). It more than doubled under drought. With the fungus it rose by half of that. "
    "The fungus alone changed little, and one plant under drought had far more than the others.",
    "Leaves held about twice as much as roots in every treatment, in the same order (Figure S1).",
)

_DISCUSSION = (
    "The fungus helps a root to go on breathing in dry soil, and it needs the plant's own transporter for that. The "
    "complemented line shows that it is this gene, and no neighbour of it, that makes the difference.",
    "Two explanations remain. ABP1 may carry a substance to the fungus that it needs in order to grow, or from the "
    "fungus something that the root burns. The first is less likely, since colonisation was as dense in the mutant as "
    "in the wild type. The second would fit the time course: respiration rose within two days after the fungus had "
    "reached the inner cortex.",
    "Our plants grew in sand, one by one, with all the nutrients they could use. In a field they compete for both "
    "water and minerals, and other fungi are present. Whether the gain in respiration becomes a gain in grain has to "
    "be shown outdoors. Lines with more of the transporter, rather than none, would be the ones to try.",
    "Water content alone would have led us to a weaker conclusion. The two measurements together show that a root can "
    "be half full of water and yet work almost as if nothing had happened.",
)

_CONTROLS = (
    "Boiled spores had no effect on any quantity that we measured. Plants that received them are therefore shown as "
    "plants without fungus. A further control, in which the nutrient solution in which spores had been kept was given "
    "alone, was made with four plants of the wild type and gave the same result.",
    "The electrode was calibrated every morning with water saturated with air and with water freed from oxygen. A "
    "chamber without a root was read between every two plants. Its drift was below one percent of the smallest value "
    "and has not been subtracted.",
    "Dry weights were read twice, on two balances. The larger difference between the two was four parts in a thousand.",
)

_REFERENCES = (
    "Abelson K, Mirza T. Roots that wait: respiration of cereals in drying sand. Journal of Invented Botany 12.",
    "Calder J. Threads in the cortex: what fungi carry and what they leave. Reviews of Soil Life 7.",
    "Dufresne O, Haas P, Yilmaz E. A transporter of the inner cortex of barley. Letters on Plant Genes 31.",
    "Ekström V. Counting spores without losing count. Methods of the Field Laboratory 4.",
    "Ferro L, Nakagawa S. The oxygen electrode, its virtues and its moods. Methods of the Field Laboratory 9.",
    "Gruber A, Ito H. Sugar spent on depth: the price of long roots. Journal of Invented Botany 15.",
    "Holm R. Wilting as a matter of minutes. Annals of Dry Places 2.",
    "Iversen B, Jallow M. Complementation, and what it shows. Letters on Plant Genes 28.",
)


def draw() -> bytes:
    paper = Paper(
        Front(
            title=DOCUMENT.title,
            authors="I. Halvard, M. Okonjo-Brandt and S. Tessaro",
            affiliation="Institute of Invented Plant Science, Lake Station",
            abstract=_ABSTRACT,
        )
    )
    paper.section("1 Introduction", *_INTRODUCTION)
    paper.section("2 Material and methods", *_METHODS)
    paper.table("Table 1. Growth conditions.", ("Condition", "Day", "Night"), (
        ("Temperature, °C", "21", "16"),
        ("Relative humidity, %", "60", "75"),
        ("Hours", "16", "8"),
    ))  # fmt: skip
    paper.sheet.picture(190, _time_course, "Figure 1. Soil water during the experiment. Drought began on day fourteen.")
    paper.section("3 Results", *_RESULTS_WATER)
    caption = "Figure 2. Water content of roots. Bars are means of six plants, error bars standard errors of the mean."
    paper.sheet.picture(210, _water_content, caption)
    paper.table("Table 2. Water content of roots in percent, the data of Figure 2, plant by plant.",
                ("Line", "Treatment", *_PLANTS), _WATER_CONTENT, labels=2)  # fmt: skip
    paper.sheet.paragraphs(_RESULTS_RESPIRATION)
    caption = (
        "Figure 3. Root respiration by line and treatment. Bars are means of six plants, error bars standard errors "
        "of the mean."
    )
    paper.sheet.picture(220, _respiration, caption)
    paper.sheet.paragraphs(_RESULTS_ACID)
    caption = "Figure 4. Abscisic acid of roots by treatment. Whiskers reach from the smallest to the largest of eight."
    paper.sheet.picture(210, _acid, caption)
    paper.table("Table 3. Root length in metres, means of four plants.", ("Line", *_TREATMENTS), (
        ("Wild type", "14.2", "16.9", "15.8"),
        ("abp1 mutant", "13.9", "16.2", "15.5"),
        ("Complemented line", "14.1", "16.6", "15.9"),
    ))  # fmt: skip
    paper.section("4 Discussion", *_DISCUSSION, new_page=True)
    paper.section("Data availability", "The measurements behind all figures are printed here or kept by the authors.")
    paper.section("Appendix. Controls", *_CONTROLS, new_page=True)
    paper.table("Data for Figure S1. Abscisic acid of leaves, ng per g fresh weight.",
                ("Treatment", *(f"Plant {number}" for number in range(1, 9))), _LEAF_ACID)  # fmt: skip
    paper.references(*_REFERENCES)
    return paper.pdf()


def _time_course(area: Area) -> None:
    days = (0, 7, 14, 17, 21, 28, 35)
    watered = (75, 74, 76, 75, 75, 74, 75)
    dry = (75, 75, 74, 52, 31, 25, 25)
    scatter_picture(
        area,
        Axis("Day", 0, 35, 7),
        Axis("Soil water, % of capacity", 0, 100, 20),
        {
            "Well watered": list(zip(days, watered, strict=True)),
            "Drought": list(zip(days, dry, strict=True)),
        },
        joined=True,
    )


def _water_content(area: Area) -> None:
    _bars(area, Axis("Water content, %", 0, 100, 20), [list(row) for row in _WATER_CONTENT])


def _respiration(area: Area) -> None:
    axis = Axis("nmol O2 per mg and minute", 0, 10, 2)
    _bars(area, axis, data_block("academic-barley-roots/figure-3.md"))


def _acid(area: Area) -> None:
    rows = data_block("academic-barley-abscisic/figure-4.md")
    groups = {treatment: Spread.of(list(map(float, plants))) for treatment, _, *plants in rows}
    box_picture(area, Axis("ng per g", 20, 140, 20), groups)


def _bars(area: Area, axis: Axis, rows: list[list[str]]) -> None:
    groups: dict[str, list[Bar]] = {line: [] for line in _LINES}
    for row in rows:
        values = [float(cell) for cell in row[-len(_PLANTS) :]]
        groups[row[0]].append(Bar(mean(values), stdev(values) / len(values) ** 0.5))
    bar_picture(area, axis, groups, _TREATMENTS)

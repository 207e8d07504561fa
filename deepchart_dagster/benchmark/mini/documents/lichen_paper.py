"""A paper on lichens on roofs: growth and humidity on two sides of a roof, and the hours of dew."""

from __future__ import annotations

from deepchart_dagster.benchmark.mini.diagrams import wheel_picture
from deepchart_dagster.benchmark.mini.documents import MiniDocument
from deepchart_dagster.benchmark.mini.paper import Front, Paper, data_block
from deepchart_dagster.benchmark.mini.pictures import Axis, Bar, bar_picture, scatter_picture
from deepchart_dagster.benchmark.mini.typeset import Area
from deepchart_dagster.benchmark.model import Domain

DOCUMENT = MiniDocument(
    id="mini-lichen-paper",
    domain=Domain.ACADEMIC,
    title="Humidity at the tile governs the growth of roof lichens on both sides of a ridge",
)

# What Figure 3 shows, printed as Table 2: humidity and growth again, but of other places.
_PARK_WALLS = (
    ("East", "58.6", "1.21"),
    ("East", "63.9", "1.64"),
    ("East", "69.2", "1.88"),
    ("East", "74.7", "2.31"),
    ("East", "80.3", "2.46"),
    ("East", "85.8", "2.92"),
    ("West", "60.1", "1.02"),
    ("West", "65.4", "1.33"),
    ("West", "70.6", "1.71"),
    ("West", "76.9", "1.97"),
    ("West", "81.7", "2.25"),
    ("West", "88.2", "2.58"),
)

_ABSTRACT = (
    "Lichens on roofs grow slowly and live long, which makes them useful witnesses of the air around them. Growth on "
    "north-facing roofs is known to be faster. We tagged twenty-four thalli on one tiled roof, twelve on each side of "
    "the ridge, and recorded the humidity at every tile for two years. On both sides growth rose with humidity along "
    "nearly the same slope. The sides differ because the north side is moister, and by a small constant beyond that."
)

_INTRODUCTION = (
    "A lichen that is dry is asleep. It wakes within minutes when dew falls or when rain runs over the tile, and falls "
    "asleep again when the sun has dried it. How much it grows in a year is therefore first of all a question of how "
    "long it was awake. Light, warmth and dust come second.",
    "Surveys of churches and barns have found larger thalli on roofs that face north. The usual explanation is that "
    "the north side stays moist for longer. Another is that strong sun harms the algae inside the thallus. The two can "
    "be told apart only when humidity is measured at the thallus itself, since a chimney, a tree or a gutter can make "
    "a wet place on a dry side.",
    "We followed one roof for two years, with a sensor under every tagged thallus. The question was whether the "
    "relation between humidity and growth is the same on both sides of the ridge.",
)

_METHODS = (
    "The roof belongs to a barn that was tiled with local clay in 1931. Its ridge runs from east to west. Twelve "
    "thalli of the common yellow species were chosen on each side so that they covered the range from the gutter to "
    "the ridge. Thalli that touched another one were not used.",
    "A sensor the size of a coin was fixed under the lip of every tile, two centimetres from the thallus. It recorded "
    "relative humidity every ten minutes. The mean of two full years is used here. Sensors were compared with each "
    "other in a closed box before and after; none had drifted by more than one percent.",
    "Thalli were photographed with a scale on the same day of three consecutive years. Radial growth is the mean of "
    "eight radii, in millimetres per year. Two people measured all pictures without knowing the tile; their mean is "
    "given.",
    "For each side of the ridge a straight line was fitted by ordinary least squares, with humidity as the independent "
    "variable. The squared correlation says how much of the variation the line explains.",
)

_RESULTS = (
    "Humidity ranged from about fifty to nearly ninety percent. The moistest tiles lay at the gutter of the north "
    "side, the driest below the ridge of the south side. The two sides overlapped over a range of some fifteen "
    "percentage points.",
    "Growth rose with humidity on both sides (Figure 2). Where the sides overlap, thalli of the north side grew more "
    "than those of the south side at the same humidity. The slopes were similar, so that the advantage was nearly the "
    "same along the whole range.",
    "One thallus of the south side grew less than its neighbours. It lay under a wire on which pigeons rested. We had "
    "no reason to leave it out in advance, and have not done so afterwards.",
)

_RESULTS_WALLS = (
    "To see whether the roof is a special case, we measured twelve thalli on the walls of a park, six on each side, "
    "in the same two years (Figure 3, Table 2). They grew more slowly throughout, and again faster where it was moist. "
    "Stone holds less water than clay, which may be the reason.",
    "Other species on the roof were too few for a fit of their own. Their mean growth is listed in Table 3.",
)

# The same months on the walls: Table 4, beside the data of Figure 4.
_WALL_DEW = (
    ("Winter", "151", "148"),
    ("Spring", "262", "287"),
    ("Summer", "301", "274"),
    ("Autumn", "388", "379"),
)

_RESULTS_DEW = (
    "Dew was counted apart from rain, by a grid of wires on one tile that closes when a film of water lies on it "
    "(Figure 4). Nights are long enough for dew from August on, and still warm enough until October, which brought the "
    "most of both years. In winter the air holds too little. Walls had less in every season (Table 4).",
)

_DISCUSSION = (
    "The north side grows faster because it is moister. What remains when humidity has been taken into account is a "
    "constant difference of about one millimetre a year, which we ascribe to the sun. The relation itself is the same "
    "on both sides.",
    "This matters for the use of lichens as witnesses. Ages of roofs and of gravestones have been estimated from the "
    "size of thalli with a single rate of growth. Our slopes say that ten percentage points of humidity change the "
    "rate by more than half a millimetre, which can double the age of a small thallus. A correction needs no sensor "
    "for years: a month in autumn predicts the yearly mean well.",
    "Twelve thalli on each side are few, and all belong to one roof. The walls show the same direction with another "
    "level. A survey with a sensor at each of a few hundred thalli would tell how much the level depends on the stone "
    "and how much on the place.",
    "Growth in the second year was higher than in the first by the same share on both sides, in keeping with a wetter "
    "summer. The order of the thalli hardly changed.",
)

_CONTROLS = (
    "Humidity under the lip of a tile is not that of the thallus itself. In a trial of six weeks a second set of "
    "sensors lay on top of the tile, beside the thallus. The two differed by up to four percent at noon and by less "
    "than one percent at night, when lichens are awake.",
    "Tagging did no harm: six thalli without a tag, photographed through the same two years, grew at the rate that "
    "the humidity of their neighbours let us expect.",
    "The camera was held by a frame that stands on the tile, so that distance and angle were the same each time.",
)

_REFERENCES = (
    "Arkwright N. Clay, slate and time: roofs as gardens. Letters from the Field Station 3.",
    "Bonde S, Castellano F. How long is a lichen awake? Journal of Invented Botany 9.",
    "Drummond E. Ages of gravestones, and why they disagree. Annals of Slow Growth 1.",
    "Eide K, Fournier B. A sensor the size of a coin. Methods of the Field Laboratory 11.",
    "Greaves T. Pigeons as a disturbance. Letters from the Field Station 5.",
    "Haldane-Ruiz M. Least squares for people with few points. Methods of the Field Laboratory 2.",
    "Imhof J, Kowal A. North and south of the ridge: a survey of ninety barns. Annals of Slow Growth 4.",
)


def draw() -> bytes:
    paper = Paper(
        Front(
            title=DOCUMENT.title,
            authors="P. Lindqvist-Amari and R. Dahlke",
            affiliation="Field Station for Invented Botany, Upper Moor",
            abstract=_ABSTRACT,
        )
    )
    paper.section("1 Introduction", *_INTRODUCTION)
    paper.section("2 Material and methods", *_METHODS)
    paper.table("Table 1. Climate during the two years.", ("Quantity", "First year", "Second year"), (
        ("Rain, mm", "713", "842"),
        ("Days with dew", "148", "161"),
        ("Mean temperature, °C", "9.4", "9.1"),
    ))  # fmt: skip
    caption = "Figure 1. Mean humidity of the roof by month, both sides together."
    paper.sheet.picture(190, _months, caption)
    paper.section("3 Results", *_RESULTS)
    caption = (
        "Figure 2. Radial growth and mean relative humidity of twenty-four thalli on the roof, by side of the ridge."
    )
    paper.sheet.picture(220, _roof, caption)
    paper.sheet.paragraphs(_RESULTS_WALLS)
    paper.sheet.picture(210, _walls, "Figure 3. Radial growth and mean relative humidity of twelve thalli on walls.")
    paper.table("Table 2. Thalli on the walls of the park, the data of Figure 3.",
                ("Facing", "Humidity (%)", "Growth (mm per year)"), _PARK_WALLS)  # fmt: skip
    paper.table("Table 3. Other species on the roof.", ("Species", "Thalli", "Growth (mm per year)"), (
        ("Grey crust", "4", "0.62"),
        ("Orange star", "7", "1.37"),
        ("Green leaf", "3", "3.05"),
    ))  # fmt: skip
    paper.sheet.paragraphs(_RESULTS_DEW)
    paper.sheet.picture(230, _dew, "Figure 4. Hours of dew on the roof by month, mean of two years, clockwise.")
    paper.table("Table 4. Hours of dew on the walls.", ("Season", "First year (h)", "Second year (h)"), _WALL_DEW)
    paper.section("4 Discussion", *_DISCUSSION, new_page=True)
    paper.section("Data availability", "Pictures and sensor records are kept by the authors.")
    paper.section("Appendix. Controls", *_CONTROLS, new_page=True)
    paper.references(*_REFERENCES)
    return paper.pdf()


def _months(area: Area) -> None:
    humidity = (82, 79, 73, 66, 63, 61, 60, 64, 71, 78, 83, 85)
    names = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    groups = {name: [Bar(value)] for name, value in zip(names, humidity, strict=True)}
    bar_picture(area, Axis("Relative humidity, %", 0, 100, 20), groups, ("Roof",))


def _dew(area: Area) -> None:
    rows = data_block("academic-lichen-dew/figure-4.md")
    wheel_picture(area, {month: (float(first) + float(second)) / 2 for month, _, first, second in rows}, high=220)


def _roof(area: Area) -> None:
    _growth(area, data_block("academic-lichen-growth/figure-2.md"), high=5)


def _walls(area: Area) -> None:
    _growth(area, [list(row) for row in _PARK_WALLS], high=4)


def _growth(area: Area, rows: list[list[str]], *, high: float) -> None:
    series: dict[str, list[tuple[float, float]]] = {}
    for facing, *_, humidity, growth in rows:
        series.setdefault(f"{facing}-facing", []).append((float(humidity), float(growth)))
    scatter_picture(area, Axis("Relative humidity, %", 50, 90, 10), Axis("mm per year", 0, high, 1), series)

"""``<root>/report/index.html``: leaderboard, figures and a gallery in one page that needs nothing else.

Everything is inside the page, pictures included; links lead to the files that a number came from, and work
where the page lies in its storage. The same store makes the same page, byte for byte.
"""

from __future__ import annotations

from pathlib import Path

from deepchart_dagster.artifacts.files import write_text
from deepchart_dagster.metrics.hallucinations import Thresholds
from deepchart_dagster.metrics.leaderboard import METRIC_NAMES, METRICS, Cell, count_text, judge_names
from deepchart_dagster.reporting.content import ReportContent, chart_facts, read_content
from deepchart_dagster.reporting.figures import model_colors, stage_figure
from deepchart_dagster.reporting.pictures import data_uri, picture_uri

GALLERY_PER_SPLIT = 4
_TEMPLATE = Path(__file__).with_name("report.html.j2")


def report_path(storage: Path) -> Path:
    return storage / "report" / "index.html"


def build_report(storage: Path, hidden: Thresholds, *, gallery_per_split: int = GALLERY_PER_SPLIT) -> Path:
    """Write the page and return its path; the gallery shows ``gallery_per_split`` instances of each split.

    Raises UpstreamError where the marts have not been built, StorageError where the page cannot be written.
    """
    content = read_content(storage, hidden, gallery_per_split=gallery_per_split)
    path = report_path(storage)
    write_text(path, render(content))
    return path


def render(content: ReportContent) -> str:
    """The page as text."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=_number, interval=_interval, href=_href)
    colors = model_colors(content.rows)
    figures = [
        {"uri": data_uri("image/svg+xml", stage_figure(table, colors)), "alt": _figure_text(table.split.value)}
        for table in content.tables
    ]
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        content=content,
        figures=figures,
        metrics=METRICS,
        metric_names=METRIC_NAMES,
        counts=count_text,
        picture=picture_uri,
        facts=chart_facts,
        judges=judge_names(content.rows),
        any_scripted=any(row.scripted for row in content.rows),
        contents=_contents(content),
    )


def _contents(content: ReportContent) -> list[tuple[str, str]]:
    """(anchor, heading) of the sections that the page has."""
    sections = (
        ("leaderboard", "Leaderboard", True),
        ("stages", "Stage by stage", bool(content.tables)),
        ("hidden", "Charts that look right and are not", bool(content.hidden)),
        ("diagnosis", "Why values did not match", bool(content.mismatches)),
        ("backends", "Rendering backends", bool(content.backends)),
        ("endings", "How programs ended", bool(content.endings)),
        ("calls", "Model calls", bool(content.calls)),
        ("gallery", "Gallery", bool(content.gallery.items)),
        ("sources", "Where the numbers come from", True),
    )
    return [(anchor, heading) for anchor, heading, there in sections if there]


def _figure_text(split: str) -> str:
    return f"Bars of ER, F1 of source data, F1 of derived data and VAS for every model on {split}"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _interval(cell: Cell) -> str:
    return "" if cell.low is None or cell.high is None else f"{cell.low:.2f}–{cell.high:.2f}"


def _href(path: str) -> str:
    """A path below the storage root as a link from the page, which lies one folder below it."""
    from urllib.parse import quote

    return "../" + quote(path)

"""The page: what stands in it, that it needs nothing else, and how a browser lays it out."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from deepchart_dagster.errors import UpstreamError
from deepchart_dagster.metrics.hallucinations import Thresholds
from deepchart_dagster.reporting.content import Calls, Endings, read_content
from deepchart_dagster.reporting.report import build_report

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")

HIDDEN = Thresholds(vas=0.8, f1=0.5)


class Page(HTMLParser):
    """Links, pictures and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: dict[str, str] = {}
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        if tag == "h2":
            self.anchors.add(str(given["id"]))
        if tag == "a":
            self.links.append(str(given["href"]))
        if tag == "img":
            self.pictures[str(given["alt"])] = str(given["src"])

    def handle_data(self, data: str) -> None:
        self.words += data.split()

    @property
    def text(self) -> str:
        return " ".join(self.words)


def test_leaderboard_with_n_and_intervals(reported: Any) -> None:
    path = build_report(reported.root, HIDDEN)
    text = Page(path.read_text(encoding="utf-8")).text

    assert path == reported.root / "report/index.html"
    assert "Normal context · finance-normal · benchmark shop" in text
    assert "M-1 n = 4/4 (F1_src 3/4, F1_der 2/4, VAS 3/4), 1 in error 0.500 0.00–1.00 0.500 0.00–1.00 0.400" in text
    assert "Robot scripted n = 4/4 1.000 1.00–1.00" in text
    assert "Scripted models are programs that stand in for a model" in text
    assert "VAS judged by scripted-judge (scripted)." in text


def test_how_programs_ended_and_calls(reported: Any) -> None:
    content = read_content(reported.root, HIDDEN, gallery_per_split=1)
    assert content.endings == (
        Endings("M-1", False, 1, (("ok", 2), ("ProviderTimeout", 1), ("no_output", 1))),
        Endings("M-1", False, 2, (("ok", 2), ("crash", 1), ("invalid_state", 1))),
        Endings("Robot", True, 2, (("ok", 4),)),
    )
    assert content.calls == (Calls("stage1", False, n_calls=2, n_cached=0, n_errors=1, price_usd=0.25, n_unpriced=0),)


def test_models_without_a_chart_that_looks_right_and_is_not_are_counted_only(reported: Any) -> None:
    """shop/1 of m-1 has a VAS of 0.75 over F1_der 0.8; nothing of robot is wrong."""
    text = Page(build_report(reported.root, Thresholds(vas=0.7, f1=0.9)).read_text(encoding="utf-8")).text
    section = text.split("the first of them. ")[1].split("Why values did not match")[0]
    assert section.startswith("1 of 2 judged models has none. Model Split Look right Wrong data Of these M-1 2 judged")
    assert "Robot" not in section
    nothing = Page(build_report(reported.root, HIDDEN).read_text(encoding="utf-8")).text
    assert "the first of them. 2 of 2 judged models have none. Why values" in nothing


def test_rendering_backends_stand_side_by_side(reported: Any) -> None:
    text = Page(build_report(reported.root, HIDDEN).read_text(encoding="utf-8")).text
    assert "Robot scripted n = 4/4 · shop html 0.500 0.250" in text
    assert "Robot scripted n = 4/4 · shop free 3 Python, 1 HTML 1.000 1.000" in text


def test_gallery_shows_reference_and_models_with_scores(reported: Any) -> None:
    page = Page(build_report(reported.root, HIDDEN).read_text(encoding="utf-8"))

    charts = sorted(alt for alt in page.pictures if "chart" in alt.lower())
    drawn_by_robot = [f"Chart of shop/{number} by Robot (scripted)" for number in (1, 2, 3, 4)]
    references = [f"Reference chart of shop/{number}" for number in (1, 2, 3)]
    drawn_by_m1 = ["Chart of shop/1 by M-1", "Chart of shop/2 by M-1"]
    assert charts == sorted([*drawn_by_robot, *references, *drawn_by_m1])
    assert "4 of 4 instances" in page.text
    shop1 = page.text.split("shop/1 · finance-normal")[1].split("shop/2 · finance-normal")[0]
    assert "Reference M-1 ER 1.000 F1_src 1.000 F1_der 0.800 VAS 0.750 Robot scripted ER 1.000" in shop1
    shop2 = page.text.split("shop/2 · finance-normal")[1]
    assert "F1_der n/a VAS error" in shop2
    shop4 = page.text.split("shop/4 · finance-normal")[1]
    assert "no reference chart M-1 no chart: crash ER 0.000 F1_src error" in shop4


def test_every_link_leads_to_a_file(reported: Any) -> None:
    path = build_report(reported.root, HIDDEN)
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.links) > 30
    assert {link[1:] for link in page.links if link.startswith("#")} == page.anchors
    for link in (link for link in page.links if not link.startswith("#")):
        assert (path.parent / unquote(link)).is_file(), link


def test_the_page_needs_nothing_else(reported: Any) -> None:
    text = build_report(reported.root, HIDDEN).read_text(encoding="utf-8")
    page = Page(text)
    assert all(source.startswith("data:image/") for source in page.pictures.values())
    assert all(link.startswith(("../", "#")) for link in page.links)
    assert not page.tags & {"script", "link", "iframe", "object"}
    rest = re.sub(r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+", "", text)
    assert re.findall(r"//[a-z]|@import|url\(", rest) == []


def test_the_same_store_makes_the_same_page(reported: Any) -> None:
    first = build_report(reported.root, HIDDEN).read_bytes()
    assert build_report(reported.root, HIDDEN).read_bytes() == first
    assert str(reported.root).encode() not in first


def test_a_smaller_gallery_says_how_many_there_are(reported: Any) -> None:
    """Those on which the models differ most: m-1 failed on shop/3 and shop/4, robot has 1.0 everywhere."""
    page = Page(build_report(reported.root, HIDDEN, gallery_per_split=2).read_text(encoding="utf-8"))
    assert "2 of 4 instances" in page.text
    assert re.findall(r"shop/\d(?= · finance-normal)", page.text) == ["shop/3", "shop/4"]


def test_a_damaged_picture_spoils_nothing_else(reported: Any) -> None:
    chart = reported.store.folder("rendered_charts", ("finance-normal", "m-1"), "shop/1") / "chart.png"
    chart.write_bytes(b"\x89PNG no more")
    page = Page(build_report(reported.root, HIDDEN).read_text(encoding="utf-8"))
    assert "M-1 the picture cannot be decoded ER 1.000" in page.text
    assert "Chart of shop/2 by M-1" in page.pictures


def test_text_from_a_benchmark_cannot_become_markup(reported: Any) -> None:
    query = reported.library.query("shop/1")
    others = [each for each in reported.library.queries() if each.uid != "shop/1"]
    hostile = query.model_copy(update={"chart_purpose": "<script>alert(1)</script><img src=x onerror=y>"})
    reported.library.add("shop", [hostile, *others], reported.root)
    page = Page(build_report(reported.root, HIDDEN).read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text


def test_without_marts_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UpstreamError, match=r"deepchart\.duckdb is not there"):
        build_report(tmp_path, HIDDEN)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_whole(reported: Any, width: int) -> None:
    from playwright.sync_api import sync_playwright

    page_file = build_report(reported.root, HIDDEN)
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        layout = page.evaluate("[document.documentElement.scrollWidth, document.images.length]")
        shown = page.evaluate(
            "[...document.images].filter(image => image.naturalWidth > 0 && image.width > 100).length"
        )
        tables = page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
        )
        browser.close()
    assert layout[0] <= width
    assert shown == layout[1] == 10  # nine charts and a figure
    assert tables == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []

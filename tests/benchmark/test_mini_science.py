"""The papers and reports of the mini benchmark, and the queries about them: what they cover, what they derive."""

from __future__ import annotations

import io
import json
import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image
from scipy import stats

from deepchart_dagster.benchmark.mini.catalogue import mini_queries
from deepchart_dagster.benchmark.mini.documents import document_scripts
from deepchart_dagster.benchmark.mini.scans import scanned
from deepchart_dagster.benchmark.mini.typeset import Look, Typesetter
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.engines import ocr_reason

QUERIES = {query.uid.removeprefix("mini/"): query for query in mini_queries() if query.domain is not Domain.FINANCE}
REPORTS = ("mini-deeptech-report", "mini-seatech-report")
PAPERS = ("mini-barley-paper", "mini-daphnia-paper", "mini-lake-paper", "mini-lichen-paper")


@pytest.fixture(scope="module")
def pdfs() -> dict[str, Any]:
    scripts = {script.document.id: script for script in document_scripts()}
    return {name: pymupdf.open(stream=scripts[name].draw()) for name in (*PAPERS, *REPORTS)}


# what is asked


def test_eight_queries_and_more_in_each_domain() -> None:
    assert Counter(query.domain for query in QUERIES.values()) >= Counter({Domain.ACADEMIC: 8, Domain.ECOSYSTEM: 8})
    assert Counter(name for query in QUERIES.values() for name in query.document_ids) == {
        "mini-barley-paper": 2, "mini-daphnia-paper": 3, "mini-lake-paper": 3, "mini-lichen-paper": 2,
        "mini-deeptech-report": 4, "mini-seatech-report": 4,
    }  # fmt: skip


def test_every_query_has_a_chart_family_of_its_own_in_its_domain() -> None:
    families = Counter((query.domain, query.chart_family) for query in QUERIES.values())
    assert set(families.values()) == {1}
    assert len({query.chart_family for query in QUERIES.values()}) == 17  # heatmaps in both domains


def test_query_types_differ_but_for_group_comparison() -> None:
    kinds = Counter(query.query_type for query in QUERIES.values())
    assert {kind for kind, n in kinds.items() if n > 1} == {"Condition/group comparison"}


# documents


def text_of(pdf: Any) -> str:
    return " ".join(" ".join(page.get_text() for page in pdf).split())


def test_every_asked_figure_has_its_caption_and_figures_beside_it(pdfs: dict[str, Any]) -> None:
    for query in QUERIES.values():
        if query.domain is Domain.ACADEMIC:
            text = text_of(pdfs[query.document_ids[0]])
            assert f"Figure {query.evidence_hint['figure']}. " in text, query.uid
            assert len(set(re.findall(r"Figure (S?\d)\. [A-Z]", text))) >= 3, query.uid
            assert f"Data for Figure {query.evidence_hint['figure']}." not in text, "the context puts it there"


@pytest.mark.parametrize(
    ("paper", "block"),
    [
        ("mini-barley-paper", "Data for Figure S1. Abscisic acid of leaves"),
        ("mini-barley-paper", "Table 2. Water content of roots in percent, the data of Figure 2"),
        ("mini-daphnia-paper", "Data for Figure S1. Immobile animals among the twenty of each vial"),
        ("mini-daphnia-paper", "Data for Figure S2. Earlier survey"),
        ("mini-lake-paper", "Data for Figure 2 of the supplement. Phosphorus fractions in the dry year"),
        ("mini-lichen-paper", "Table 2. Thalli on the walls of the park, the data of Figure 3"),
    ],
)
def test_papers_print_data_that_could_be_taken_for_the_asked_ones(pdfs: dict[str, Any], paper: str, block: str) -> None:
    assert block in text_of(pdfs[paper])


def test_two_figures_of_the_lake_paper_bear_one_number(pdfs: dict[str, Any]) -> None:
    captions = re.findall(r"Figure 2\. Phosphorus fractions of the (\w+)", text_of(pdfs["mini-lake-paper"]))
    assert captions == ["surface", "same"]
    hint = QUERIES["academic-lake-phosphorus"].evidence_hint
    assert hint["caption"] == "Phosphorus fractions of the surface sediment in the wet year"


def test_reports_have_forty_pages_and_charts_as_pictures(pdfs: dict[str, Any]) -> None:
    for name in REPORTS:
        assert pdfs[name].page_count >= 40
        assert sum(bool(page.get_images()) for page in pdfs[name]) >= 14
        # what is drawn as lines are rules and stripes of tables alone
        assert all(
            item[0] in ("l", "re") for page in pdfs[name] for path in page.get_drawings() for item in path["items"]
        )


def test_seven_pages_are_left_to_text_recognition(pdfs: dict[str, Any]) -> None:
    to_read = {name: [n for n, page in enumerate(pdf, start=1) if ocr_reason(page)] for name, pdf in pdfs.items()}
    assert to_read == {
        **{paper: [] for paper in PAPERS},
        "mini-deeptech-report": [42, 43],
        "mini-seatech-report": [6, 7, 35, 36, 37],
    }
    assert [n for n, page in enumerate(pdfs["mini-seatech-report"], start=1) if not page.get_text().strip()] == [
        35,
        36,
        37,
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("ecosystem-patents", "909"), ("ecosystem-port-growth", "214.6"), ("ecosystem-port-jobs", "143.2")],
)
def test_values_of_pictures_stand_nowhere_as_text(
    pdfs: dict[str, Any], states: dict[str, Any], name: str, value: str
) -> None:
    assert value in json.dumps(states[name]["src_data"])
    assert value not in text_of(pdfs[QUERIES[name].document_ids[0]])


# scans


def rule_pages(n: int) -> bytes:
    """Pages with a rule from margin to margin."""
    sheet = Typesetter(look=Look(), title="t", author="a", footer=lambda page: f"page {page}")
    for number in range(n):
        if number:
            sheet.new_page()
        sheet._rule(sheet.look.margin, 300.0)
    return sheet.pdf()


def scan_of(page: Any) -> np.ndarray[Any, Any]:
    (image,) = page.get_images()
    extracted = page.parent.extract_image(image[0])
    assert extracted["ext"] == "jpeg"
    return np.asarray(Image.open(io.BytesIO(extracted["image"])), dtype=float)


def test_a_scan_is_askew_and_grainy_and_has_no_text() -> None:
    straight = rule_pages(3)
    with pymupdf.open(stream=scanned(straight, [2])) as document:
        assert [bool(page.get_text().strip()) for page in document] == [True, False, True]
        assert document[1].rect == document[0].rect
        pixels = scan_of(document[1])
    blank = pixels[50:250, 200:1000]
    assert 240 < blank.mean() < 252
    assert 3 < blank.std() < 12
    left, right = (int(pixels[:, column : column + 9].mean(axis=1).argmin()) for column in (300, 900))
    assert math.degrees(math.atan((left - right) / 600)) == pytest.approx(0.4, abs=0.12)  # page 2: 0.4 degrees


def test_a_scan_is_the_same_every_time_and_other_pages_stay() -> None:
    straight = rule_pages(3)
    assert scanned(straight, [2, 3]) == scanned(straight, [2, 3])
    with pymupdf.open(stream=scanned(straight, [1, 2])) as document:
        assert not np.array_equal(scan_of(document[0]), scan_of(document[1]))
        assert len(document[2].get_drawings()) == 1


# what the references derive, by other means than theirs


def test_quartiles_and_p_values(states: dict[str, Any]) -> None:
    state = states["academic-barley-abscisic"]
    watered = state["src_data"]["Well watered"]
    for treatment, plants in state["src_data"].items():
        found = dict(state["der_data"][treatment])
        p_value = found.pop("p_value", None)
        quartiles = dict(
            zip(("lowest", "q1", "median", "q3", "highest"), np.percentile(plants, [0, 25, 50, 75, 100]), strict=True)
        )
        assert found == pytest.approx(quartiles)
        if treatment != "Well watered":
            a, b = (np.var(group, ddof=1) / len(group) for group in (plants, watered))
            t = (np.mean(plants) - np.mean(watered)) / math.sqrt(a + b)
            freedom = (a + b) ** 2 / (a**2 / (len(plants) - 1) + b**2 / (len(watered) - 1))
            assert p_value == pytest.approx(2 * stats.t.sf(abs(t), freedom))


def test_a_response_of_one_half_is_where_the_fitted_logit_is_zero(states: dict[str, Any]) -> None:
    state = states["academic-daphnia-dose"]
    for water, doses in state["src_data"].items():
        fit = state["der_data"][water]["fit"]
        logits = [math.log((sum(k) + 0.5) / (80 - sum(k) + 0.5)) for k in doses.values()]
        slope, intercept = np.polyfit(np.log10([float(dose) for dose in doses]), logits, 1)
        assert fit["slope"] == pytest.approx(slope)
        assert slope * math.log10(fit["EC50"]) + intercept == pytest.approx(0, abs=1e-9)
    twenty = state["der_data"]["Soft water"]["response"]["20"]  # 8, 9, 17, 15 of 20
    assert twenty == pytest.approx({"mean_percent": 61.25, "sem_percent": stats.sem([40, 45, 85, 75])})


def test_odds_ratios_and_their_pooled_one(states: dict[str, Any]) -> None:
    state = states["academic-daphnia-ponds"]
    table = stats.contingency.odds_ratio([[46, 66], [28, 90]], kind="sample")  # Alder pond
    interval = table.confidence_interval(0.95)
    alder = {"odds_ratio": table.statistic, "ci_low": interval.low, "ci_high": interval.high}
    assert state["der_data"]["Alder pond"] == pytest.approx(alder, rel=1e-6)
    ponds = [state["der_data"][pond]["odds_ratio"] for pond in state["src_data"]]
    pooled = state["der_data"]["All ponds"]
    assert min(ponds) < pooled["ci_low"] < pooled["odds_ratio"] < pooled["ci_high"] < max(ponds)
    assert math.sqrt(pooled["ci_low"] * pooled["ci_high"]) == pytest.approx(pooled["odds_ratio"])


def test_standard_scores(states: dict[str, Any]) -> None:
    state = states["academic-lake-profiles"]
    table = np.array([list(lake.values()) for lake in state["src_data"].values()])
    scores = np.array([list(lake.values()) for lake in state["der_data"].values()])
    assert scores == pytest.approx(stats.zscore(table, ddof=1))


def test_variation_of_heart_rates(states: dict[str, Any]) -> None:
    state = states["academic-daphnia-heart"]
    for copper, rates in state["src_data"].items():
        found = state["der_data"][copper]
        assert found["cv_percent"] == pytest.approx(100 * stats.variation(rates, ddof=1))
        assert found["median"] == np.median(rates)


def test_shares_make_a_whole(states: dict[str, Any]) -> None:
    mud = states["academic-lake-phosphorus"]["der_data"]
    assert sum(group["share_percent"] for group in mud.values()) == pytest.approx(100)
    assert all(sum(group["fractions"].values()) == pytest.approx(group["share_percent"]) for group in mud.values())
    months = states["academic-lichen-dew"]["der_data"]
    assert sum(month["share_percent"] for month in months.values()) == pytest.approx(100)
    cohorts = states["ecosystem-port-cohorts"]["der_data"]
    assert all(sum(shares.values()) == pytest.approx(100) for shares in cohorts.values())
    assert cohorts["2010-2012"]["Closed"] == pytest.approx(100 * (34 + 29 + 25) / (78 + 60 + 44))


def test_what_comes_into_the_lake_goes_somewhere(states: dict[str, Any]) -> None:
    lake = states["academic-lake-nitrogen"]["der_data"]
    total = sum(lake["total_by_source"].values())
    assert sum(lake["total_by_sink"].values()) == pytest.approx(total)
    assert lake["mean_flow"]["Streams"]["Outflow"] == pytest.approx((46.4 + 51.2 + 42.1) / 3)
    assert lake["share_removed_percent"] == pytest.approx(100 * (total - lake["total_by_sink"]["Outflow"]) / total)


def test_ranks_and_ratios_of_ports_and_cities(states: dict[str, Any]) -> None:
    growth = states["ecosystem-port-growth"]
    for year in ("2020", "2024"):
        capital = [-port[f"capital_{year}"] for port in growth["src_data"].values()]
        assert [port[f"rank_{year}"] for port in growth["der_data"].values()] == list(stats.rankdata(capital))
    assert growth["der_data"]["Vigo"]["places_gained"] == 4  # 8th, then 4th
    assert growth["der_data"]["Aveiro"]["growth_percent"] == pytest.approx(100 * 61.7 / 18.4 - 100)
    jobs = states["ecosystem-port-jobs"]["der_data"]["Cork"]
    assert jobs == pytest.approx({"jobs_per_company": 2180 / 71, "capital_per_job_thousand": 88_400 / 2180})
    rounds = states["ecosystem-port-rounds"]["der_data"]
    assert next(iter(rounds["mean_round"])) == "Esbjerg"
    assert rounds["mean_round_of_all"] == pytest.approx(1087.6 / 255)
    patents = states["ecosystem-patents"]["der_data"]
    assert patents["Oulu"] == pytest.approx({"patents_per_1000_engineers": 335 / 22.76, "rank": 1})
    salary = states["ecosystem-stage-salary"]["der_data"]
    assert salary["Lund"]["Series A"] == pytest.approx(100 * (57.1 - 51.0) / 51.0)

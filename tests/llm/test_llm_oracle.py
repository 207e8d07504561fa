"""The scripted model oracle: every source value it gives was in its messages, and what was not sent is missing."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.benchmark.mini.catalogue import QUERY_FOLDER, mini_queries
from deepchart_dagster.benchmark.mini.documents import document_scripts
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.contexts.engines.text_layer import TextLayerReader
from deepchart_dagster.contexts.layout import lay_out
from deepchart_dagster.errors import BenchmarkFormatError
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ImagePart, Message
from deepchart_dagster.llm.scripted import oracle, recipes
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest

QUERIES = {query.uid.removeprefix("mini/"): query for query in mini_queries()}
# Finance queries on filings whose statements are text, a page each; others are read in test_llm_mini_chain.py.
PAGE_BY_PAGE = sorted(name for name in QUERIES if name.startswith(("finance-halden-", "finance-marrow-")))
PROMPTS = PromptSet.load(None)
INCOME = r"CONSOLIDATED STATEMENTS OF (?:OPERATIONS|INCOME)"
BALANCE = "CONSOLIDATED BALANCE SHEETS"
CASH_FLOW = "CONSOLIDATED STATEMENTS OF CASH FLOWS"
PARENT = r"CONDENSED BALANCE SHEETS \(PARENT COMPANY ONLY\)"
CHUNK = 8


class _Pages(dict[str, list[str]]):
    """Document -> its pages as markdown, read as the contexts room reads them, when they are asked for."""

    def __missing__(self, name: str) -> list[str]:
        (script,) = (script for script in document_scripts() if script.document.id == name)
        self[name] = list(_read(script.draw()))
        return self[name]


@pytest.fixture(scope="module")
def pages() -> dict[str, list[str]]:
    return _Pages()


def _read(pdf: bytes) -> Iterator[str]:
    """A scan has no text."""
    with pymupdf.open(stream=pdf) as document:
        for page in document:
            words = TextLayerReader().words(page) if page.get_text().strip() else []
            yield "\n\n".join(line.markdown for line in lay_out(words, page.rect.width))


def intent(name: str) -> dict[str, Any]:
    query = QUERIES[name]
    return {
        "chart_type": query.chart_type,
        "chart_purpose": query.purpose_for(CodeType.PYTHON),
        "chart_layout": query.chart_layout,
    }


def asked(name: str, texts: dict[str, str], storage: Path, images: tuple[ImagePart, ...] = ()) -> ScriptedRequest:
    """The stage-1 request for a query with these documents (id -> text)."""
    documents = [{"title": f"Title of {d}", "document_id": d, "name": f"{d}.md", "text": t} for d, t in texts.items()]
    system, user = PROMPTS.messages("stage1", **intent(name), documents=documents, chunks=[])
    messages = (system, Message("user", (*user.parts, *images)))
    return ScriptedRequest(messages=messages, parameters={}, evidence=EvidenceStore(storage), storage=storage)


def titled(pages: list[str], title: str) -> str:
    """The only page on which ``title`` stands."""
    (page,) = (page for page in pages if re.search(title, page))
    return page


def whole(pages: dict[str, list[str]], name: str, without: tuple[tuple[str, str], ...] = ()) -> dict[str, str]:
    """All documents of a query, page by page, without the (document, title of a page) given."""
    left_out = {document: titled(pages[document], title) for document, title in without}
    return {
        document: "\n\n".join(text for text in pages[document] if text != left_out.get(document))
        for document in QUERIES[name].document_ids
    }


def state_of(program: str, folder: Path) -> Any:
    """What a stage-1 program leaves when plain Python runs it."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, str(folder / "program.py"), str(folder / "state.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "state.json").read_text(encoding="utf-8"))


def reference(name: str, folder: Path) -> Any:
    return state_of((QUERY_FOLDER / name / "stage1.py").read_text(encoding="utf-8"), folder)


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        members = value.values() if isinstance(value, dict) else value
        return sorted(itertools.chain.from_iterable(numbers(member) for member in members))
    return [value]


def shown(pages: list[str], numbers_of_pages: list[int], storage: Path) -> tuple[ImagePart, ...]:
    """Pictures of these pages, eight a picture, known to the evidence store."""
    pictures = []
    for start in range(0, len(numbers_of_pages), CHUNK):
        chunk = numbers_of_pages[start : start + CHUNK]
        data = f"jpeg of {chunk}".encode()
        rows: list[Any] = [{"number": n, "markdown": pages[n - 1]} for n in chunk]
        EvidenceStore(storage).put("pages", sha256_bytes(data), {"document_id": "mini-deeptech-report", "pages": rows})
        pictures.append(ImagePart(data=data, media_type="image/jpeg", width=100, height=100))
    return tuple(pictures)


def answer(request: ScriptedRequest) -> str:
    reply = oracle.answer(request)
    assert reply.finish_reason == "stop"
    return reply.text


@pytest.mark.parametrize("name", PAGE_BY_PAGE)
def test_whole_filings_give_every_value(name: str, pages: dict[str, list[str]], tmp_path: Path) -> None:
    state = state_of(answer(asked(name, whole(pages, name), tmp_path)), tmp_path)
    expected = reference(name, tmp_path)
    assert state["src_data"] == expected["src_data"]
    assert numbers(state["der_data"]) == pytest.approx(numbers(expected["der_data"]))


@pytest.mark.parametrize("name", ["finance-halden-igr", "finance-marrow-ccc"])
def test_statement_pages_alone_give_every_value(name: str, pages: dict[str, list[str]], tmp_path: Path) -> None:
    tables = {
        document: "\n\n".join(titled(pages[document], title) for title in (INCOME, BALANCE, CASH_FLOW))
        for document in QUERIES[name].document_ids
    }
    state = state_of(answer(asked(name, tables, tmp_path)), tmp_path)
    assert state["src_data"] == reference(name, tmp_path)["src_data"]


def test_a_statement_page_that_is_not_sent_is_missing(pages: dict[str, list[str]], tmp_path: Path) -> None:
    """The balance sheets of 2021 and 2020 stand on one page of the filing of 2021, and nowhere else."""
    texts = whole(pages, "finance-marrow-ccc", without=(("mini-marrow-2021", BALANCE),))
    state = state_of(answer(asked("finance-marrow-ccc", texts, tmp_path)), tmp_path)
    expected = reference("finance-marrow-ccc", tmp_path)
    for name, years in expected["src_data"].items():
        on_page = {"2020", "2021"} if name in ("Inventories", "Accounts receivable", "Accounts payable") else set()
        assert state["src_data"][name] == {year: value for year, value in years.items() if year not in on_page}
    assert state["der_data"].keys() == {"2022", "2023"}
    assert state["der_data"]["2022"] == pytest.approx(expected["der_data"]["2022"])


def test_a_year_in_two_filings_is_missing_only_without_both(pages: dict[str, list[str]], tmp_path: Path) -> None:
    """Net income of 2022 is in three filings, that of 2021 in two, that of 2024 in one."""
    without = (("mini-halden-2024", INCOME), ("mini-halden-2023", INCOME))
    texts = whole(pages, "finance-halden-igr", without=without)
    state = state_of(answer(asked("finance-halden-igr", texts, tmp_path)), tmp_path)
    assert state["src_data"]["Net income"] == {"2021": 515, "2022": 529}
    assert len(state["src_data"]["Total assets"]) == len(state["src_data"]["Dividends paid"]) == 4
    assert state["der_data"].keys() == {"2021", "2022"}


def test_the_parent_alone_is_not_taken_for_the_group(pages: dict[str, list[str]], tmp_path: Path) -> None:
    texts = {"mini-halden-2022": titled(pages["mini-halden-2022"], PARENT)}
    assert "Total assets" in texts["mini-halden-2022"]
    state = state_of(answer(asked("finance-halden-igr", texts, tmp_path)), tmp_path)
    assert state == {"src_data": {}, "der_data": {}}


def test_values_come_from_the_text_and_not_from_memory(pages: dict[str, list[str]], tmp_path: Path) -> None:
    texts = whole(pages, "finance-halden-igr")
    changed = {document: text.replace("$6,976", "$7,777") for document, text in texts.items()}
    state = state_of(answer(asked("finance-halden-igr", changed, tmp_path)), tmp_path)
    assert state["src_data"]["Total assets"]["2024"] == 7777
    assert state["der_data"]["2024"]["Internal growth rate (%)"] == pytest.approx(100 * 504 / (7777 - 504))


@pytest.mark.parametrize("name", ["academic-barley-roots", "academic-lichen-growth"])
def test_the_data_block_alone_gives_every_value(name: str, tmp_path: Path) -> None:
    block = (QUERY_FOLDER / str(QUERIES[name].evidence_hint["data"])).read_text(encoding="utf-8")
    state = state_of(answer(asked(name, {"paper": block}, tmp_path)), tmp_path)
    expected = reference(name, tmp_path)
    assert numbers(state["src_data"]) == numbers(expected["src_data"])
    assert numbers(state["der_data"]) == pytest.approx(numbers(expected["der_data"]))


@pytest.mark.parametrize("name", ["academic-barley-roots", "academic-lichen-growth"])
def test_tables_of_other_figures_are_left_alone(name: str, pages: dict[str, list[str]], tmp_path: Path) -> None:
    """The paper prints another figure's data under the same columns; without the block there is nothing."""
    block = (QUERY_FOLDER / str(QUERIES[name].evidence_hint["data"])).read_text(encoding="utf-8")
    paper = "\n\n".join(pages[QUERIES[name].document_ids[0]])
    with_block = state_of(answer(asked(name, {"paper": f"{paper}\n\n{block}"}, tmp_path)), tmp_path)
    assert numbers(with_block["src_data"]) == numbers(reference(name, tmp_path)["src_data"])
    assert state_of(answer(asked(name, {"paper": paper}, tmp_path)), tmp_path) == {"src_data": {}, "der_data": {}}


@pytest.mark.parametrize("name", ["ecosystem-capital-efficiency", "ecosystem-rank-gap"])
def test_pictures_are_read_through_the_evidence_store(name: str, pages: dict[str, list[str]], tmp_path: Path) -> None:
    report = pages["mini-deeptech-report"]
    images = shown(report, list(range(1, len(report) + 1)), tmp_path)
    state = state_of(answer(asked(name, {}, tmp_path, images)), tmp_path)
    expected = reference(name, tmp_path)
    assert state["src_data"] == expected["src_data"]
    assert state["der_data"] == expected["der_data"]


def test_pictures_of_unknown_bytes_show_nothing(tmp_path: Path) -> None:
    image = ImagePart(data=b"never drawn", media_type="image/jpeg", width=9, height=9)
    state = state_of(answer(asked("ecosystem-rank-gap", {}, tmp_path, (image,))), tmp_path)
    assert state == {"src_data": {}, "der_data": {}}


def test_a_page_that_no_picture_shows_is_missing(pages: dict[str, list[str]], tmp_path: Path) -> None:
    """Twelve companies a page; the second page of the list holds one without a headcount."""
    report = pages["mini-deeptech-report"]
    second = next(n for n, text in enumerate(report, 1) if "Table 3" in text and "continued" in text)
    images = shown(report, [n for n in range(1, len(report) + 1) if n != second], tmp_path)
    state = state_of(answer(asked("ecosystem-capital-efficiency", {}, tmp_path, images)), tmp_path)
    expected = reference("ecosystem-capital-efficiency", tmp_path)["src_data"]
    gone = {company for company in expected if company in report[second - 1]}
    assert len(gone) == 11
    assert state["src_data"] == {company: facts for company, facts in expected.items() if company not in gone}
    assert len(state["der_data"]) == 12


def stage2(name: str, state: Any, code_type: str, storage: Path) -> ScriptedReply:
    data = json.dumps(state)
    messages = PROMPTS.messages("stage2", **intent(name), code_type=code_type, json_data=data)
    return oracle.answer(ScriptedRequest(messages, {}, EvidenceStore(storage), storage))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_stage_2_draws_the_same_picture_as_the_reference(name: str, tmp_path: Path) -> None:
    state = reference(name, tmp_path)
    theirs = (QUERY_FOLDER / name / "stage2.py").read_text(encoding="utf-8").replace("__J__", repr(state))
    pictures = []
    for number, source in enumerate((stage2(name, state, "python", tmp_path).text, theirs)):
        (tmp_path / f"{number}.py").write_text(source, encoding="utf-8")
        command = [sys.executable, str(tmp_path / f"{number}.py"), str(tmp_path / f"{number}.png")]
        subprocess.run(command, check=True, capture_output=True)
        pictures.append((tmp_path / f"{number}.png").read_bytes())
    assert pictures[0] == pictures[1]


def test_stage_2_draws_the_data_it_is_given(tmp_path: Path) -> None:
    state = {"src_data": {}, "der_data": {"2031": {"Internal growth rate (%)": 12.5}}}
    assert "'2031'" in stage2("finance-halden-igr", state, "python", tmp_path).text


def test_what_it_cannot_do_is_refused(tmp_path: Path) -> None:
    unknown = (Message.text("user", "Chart purpose: Draw the rainfall of Bergen."),)
    assert oracle.answer(ScriptedRequest(unknown, {}, EvidenceStore(tmp_path), tmp_path)).finish_reason == "refusal"
    assert stage2("finance-halden-igr", {"der_data": {}}, "html", tmp_path).finish_reason == "refusal"
    messages = PROMPTS.messages("stage2", **intent("finance-halden-igr"), code_type="python", json_data="{broken")
    request = ScriptedRequest(messages, {}, EvidenceStore(tmp_path), tmp_path)
    assert oracle.answer(request).finish_reason == "refusal"


def test_recipes_hold_no_source_value(tmp_path: Path) -> None:
    """No number of a recipe is a source value; small whole numbers (ranks, counts, constants) are nobody's."""
    for known in recipes.known_queries():
        name = known.query.uid.removeprefix("mini/")
        text = (QUERY_FOLDER / name / "recipe.yaml").read_text(encoding="utf-8")
        sources = numbers(reference(name, tmp_path)["src_data"])
        values = {f"{value:g}" for value in sources if value >= 20 or value % 1}
        words = set(text.replace(",", " ").replace('"', " ").replace("]", " ").replace("[", " ").split())
        assert not values & words, name


def test_a_damaged_recipe_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipe.yaml").write_text("sources: []\nderive: x\n", encoding="utf-8")
    monkeypatch.setattr(recipes, "folder_of", lambda query: tmp_path)
    recipes.known_queries.cache_clear()
    try:
        with pytest.raises(BenchmarkFormatError, match=r"recipe\.yaml: no recipe"):
            recipes.known_queries()
    finally:
        recipes.known_queries.cache_clear()

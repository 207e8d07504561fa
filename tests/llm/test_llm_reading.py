"""How the scripted models read a context: documents, tables, amounts, look-ups."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.generation.prompts import context_block
from deepchart_dagster.llm.model import Message
from deepchart_dagster.llm.scripted.base import ScriptedRequest
from deepchart_dagster.llm.scripted.html_tables import tables_in
from deepchart_dagster.llm.scripted.lookups import (
    LabelsLookup,
    RecordsLookup,
    SentenceLookup,
    StatementLookup,
    amount,
    find_all,
)
from deepchart_dagster.llm.scripted.sent_context import Passage, context_hash, passages


def sent(text: str) -> ScriptedRequest:
    storage = Path("unused")
    return ScriptedRequest((Message.text("user", text),), {}, EvidenceStore(storage), storage)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$4,205", 4205),
        ("(1,234)", -1234),
        ("$ (56)", -56),
        ("3.10", 3.1),
        (".5", 0.5),
        ("−7", -7),
        ("—", 0),
        ("12%", 12),
        ("n/a", None),
        ("", None),
        ("2022 and 2021", None),
        ("Series B", None),
    ],
)
def test_amounts(cell: str, value: float | None) -> None:
    assert amount(cell) == value


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_printed_whole_numbers_are_read_back(value: int) -> None:
    printed = f"({-value:,})" if value < 0 else f"${value:,}"
    assert amount(printed) == value


def test_documents_are_read_between_their_fences() -> None:
    texts = ["one\n````\nstill one", "### Document 9: not a header [x] (y)\n", "last"]
    documents = [
        {"title": f"A [draft] {n}", "document_id": f"d-{n}", "name": f"n{n}.md", "text": text}
        for n, text in enumerate(texts)
    ]
    found = passages(sent(f"before\n\n{context_block(documents, [])}\n\nafter"))
    assert [(passage.document_id, passage.name, passage.text.rstrip("\n")) for passage in found] == [
        ("d-0", "n0.md", texts[0]),
        ("d-1", "n1.md", texts[1].rstrip("\n")),
        ("d-2", "n2.md", texts[2]),
    ]


@given(st.lists(st.text(alphabet="ab`#\n <|", max_size=40), max_size=4))
def test_any_text_comes_through_its_fence(texts: list[str]) -> None:
    documents = [{"title": "t", "document_id": str(n), "name": "n", "text": text} for n, text in enumerate(texts)]
    found = passages(sent(context_block(documents, [])))
    assert [passage.text for passage in found] == [f"{text}\n" for text in texts]


def test_cells_that_span_columns_are_repeated() -> None:
    html = (
        "Above.\n<table><tr><th></th><th colspan='2'>2022</th><th colspan=2>2021</th></tr>"
        "<tr><td>Net &amp; gross</td><td>$</td><td>1,5</td><td>$</td><td>7</td></tr></table>"
    )
    (table,) = tables_in(html)
    assert table.header == (("", "2022", "2022", "2021", "2021"),)
    assert table.rows == (("Net & gross", "$", "1,5", "$", "7"),)
    assert table.above == "Above.\n"


def test_pipe_tables_are_tables_too() -> None:
    text = "**Data for Figure 3.**\n\n| Line | Plant 1 |\n|:--|--:|\n| abp1 | 7.25 |\n\nText | with a bar.\n"
    (table,) = tables_in(text)
    assert table.header == (("Line", "Plant 1"),)
    assert table.rows == (("abp1", "7.25"),)
    assert "Data for Figure 3" in table.above


def test_text_above_ends_at_the_table_before() -> None:
    text = (
        "Table 1\n<table><tr><td>a</td><td>1</td></tr></table>\nTable 2\n<table><tr><td>b</td><td>2</td></tr></table>"
    )
    assert [table.above.strip() for table in tables_in(text)] == ["Table 1", "Table 2"]


@pytest.mark.parametrize(
    "row",
    [
        "<td>Cash paid</td><td>(5)</td><td>(6)</td>",
        "<td>Cash  paid</td><td>$(5)</td><td>$(6)</td>",
    ],
)
def test_a_row_is_read_by_the_years_above_it(row: str) -> None:
    text = f"<table><tr><th></th><th>2022</th><th>2021</th></tr><tr>{row}</tr><tr><td>Only here</td></tr></table>"
    lookup = StatementLookup.model_validate(
        {"kind": "statement", "having": ["Only here"], "row": "Cash paid", "as": "paid", "columns": ["2021"],
         "negate": True}
    )  # fmt: skip
    (found,) = find_all([lookup], [Passage("d", "n", text)])
    assert (found.path, found.value) == (("paid", "2021"), 6)
    assert [(beside.kind, beside.value) for beside in found.neighbours] == [("wrong_year", 5)]


def test_signs_in_cells_of_their_own() -> None:
    text = (
        "<table><tr><td></td><td colspan=3>2022</td><td colspan=3>2021</td></tr>"
        "<tr><td>Loss</td><td>$</td><td>(5</td><td>)</td><td>$</td><td>6</td><td></td></tr></table>"
    )
    lookup = StatementLookup.model_validate(
        {"kind": "statement", "having": [], "row": "loss", "as": "loss", "columns": ["2022", "2021"]}
    )
    found = find_all([lookup], [Passage("d", "n", text)])
    assert {value.path[1]: value.value for value in found} == {"2022": -5, "2021": 6}


def test_records_of_several_pages_and_of_one_caption() -> None:
    def page(caption: str, *rows: str) -> Passage:
        head = "<tr><th>City</th><th>Deals</th><th>Funding</th></tr>"
        return Passage("d", "n", f"## {caption}\n<table>{head}{''.join(rows)}</table>")

    def row(*cells: str) -> str:
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    lookup = RecordsLookup.model_validate(
        {"kind": "records", "caption": "table 1", "keys": ["City"], "columns": ["Funding"], "as": ["funding"]}
    )
    found = find_all(
        [lookup],
        [
            page("Table 1", row("Oslo", "62", "503.1"), row("Bergen", "22", "n/a")),
            page("Table 1, continued", row("Lund", "39", "467.9"), row("Oslo", "1", "9")),
            page("Table 2", row("Espoo", "58", "641.8")),
        ],
    )
    assert {value.path: value.value for value in found} == {("Oslo", "funding"): 503.1, ("Lund", "funding"): 467.9}
    assert [(beside.kind, beside.value) for beside in found[0].neighbours] == [
        ("wrong_column", 62),
        ("wrong_column", 1),
    ]


def test_a_caption_names_what_its_whole_table_is_about() -> None:
    rows = "<table><tr><th>Stage</th><th>Salary</th></tr><tr><td>Seed</td><td>{}</td></tr></table>"
    lookup = RecordsLookup.model_validate(
        {"kind": "records", "caption": "by stage", "entity": r"Table\. (?P<key>\w+) by stage", "keys": ["Stage"],
         "columns": ["Salary"]}
    )  # fmt: skip
    captions = ("Table. Oslo\nby stage", "Table. Lund by stage", "Somewhere by stage")
    found = find_all(
        [lookup], [Passage("d", "n", f"{caption}\n{rows.format(at)}") for at, caption in enumerate(captions)]
    )
    assert {value.path: value.value for value in found} == {
        ("Oslo", "Seed", "Salary"): 0,
        ("Lund", "Seed", "Salary"): 1,
    }


def test_numbers_at_the_bars_of_a_chart() -> None:
    rows = (("", "2020", "2024"), ("Cork ■", "", "1,012 _"), ("Vigo", "87", "90.5"))
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    pages = [Passage("d", "n", f"Figure {number}. Capital\n<table>{cells}</table>") for number in (1, 2)]

    def found(caption: str, *names: str | None) -> dict[tuple[str, ...], float]:
        lookup = LabelsLookup.model_validate({"kind": "labels", "caption": caption, "as": names})
        return {value.path: value.value for value in find_all([lookup], pages[:1])}

    assert found("Figure 1. Capital", "before", "after") == {("Vigo", "before"): 87, ("Vigo", "after"): 90.5}
    assert found("Figure 1. Capital", None, "after") == {("Vigo", "after"): 90.5}
    assert found("Figure 1.", "after") == {("Cork", "after"): 1012}
    assert found("Figure 2.", "after") == {}


def test_sentences_run_over_line_ends() -> None:
    lookup = SentenceLookup.model_validate(
        {"kind": "sentence", "pattern": r"About (?P<value>[\d,]+) engineers work in (?P<key>\w+)", "as": "engineers"}
    )
    (found,) = find_all([lookup], [Passage("d", "n", "About 9,840\nengineers work\nin Aarhus, and so on.")])
    assert (found.path, found.value) == (("Aarhus", "engineers"), 9840)


def test_the_hash_of_a_context_changes_with_it() -> None:
    def hash_of(text: str) -> str:
        return context_hash((Message.text("user", text),))

    assert hash_of("a") == hash_of("a") != hash_of("b")

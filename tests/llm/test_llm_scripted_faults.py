"""The scripted models that err: which instances they hit, what they leave, what is recorded, and where it shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.benchmark.mini.catalogue import folder_of, mini_queries
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.generation.answers import extract_code
from deepchart_dagster.generation.asking import program_in
from deepchart_dagster.generation.prompts import PromptSet
from deepchart_dagster.llm.model import ChatAnswer, Usage
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.scripted import breaks, chatters, faults, miscalculates, misdraws, misreads, oracle
from deepchart_dagster.llm.scripted.base import Behaviour, ScriptedReply, ScriptedRequest, load_behaviour
from deepchart_dagster.llm.scripted.faults import Dice, FaultParameters, Metric, injected
from deepchart_dagster.llm.scripted.questions import FORMS
from deepchart_dagster.settings import PROJECT_ROOT

PROMPTS = PromptSet.load(None)
QUERIES = {query.uid: query for query in mini_queries()}
BARLEY, LICHEN = "mini/academic-barley-roots", "mini/academic-lichen-growth"
ERRING = ("misreads", "miscalculates", "misdraws", "crashes", "hangs", "truncates")
STATE = {"src_data": {"a": 1}, "der_data": {"2023": {"x": 4321.5}}}


def model(name: str, **parameters: Any) -> ModelSpec:
    return ModelSpec(slug=name, litellm_model=f"scripted/{name}", parameters=parameters)


def asked(uid: str, number: int, storage: Path, **parameters: Any) -> ScriptedRequest:
    """Stage 1 with a query's own data block as the only document, where it has one, or stage 2 with STATE."""
    query = QUERIES[uid]
    intent = {"chart_type": None, "chart_layout": None, "chart_purpose": query.purpose_for(CodeType.PYTHON)}
    if number == 2:
        messages = PROMPTS.messages("stage2", **intent, code_type="python", json_data=json.dumps(STATE))
    else:
        document = {"title": "A paper", "document_id": "paper", "name": "data.md", "text": data_block(uid)}
        messages = PROMPTS.messages("stage1", **intent, documents=[document], chunks=[])
    return ScriptedRequest(messages, parameters, EvidenceStore(storage), storage)


def data_block(uid: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder_of(QUERIES[uid]).glob("figure-*.md")))


def records(storage: Path, name: str) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(faults.injection_folder(storage, name).glob("*.json"))]


def ran(program: str, folder: Path) -> tuple[int, Any]:
    """Exit code, and the JSON that the program left."""
    output = folder / "state.json"
    output.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-c", program, str(output)], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(output.read_text()) if output.is_file() else None


@pytest.mark.parametrize("name", [*ERRING, "chatters"])
def test_at_rate_zero_every_model_is_the_oracle(name: str, tmp_path: Path) -> None:
    behaviour = load_behaviour(name)
    for uid in QUERIES:
        for stage in (1, 2):
            request = asked(uid, stage, tmp_path, rate=0.0, seed=3)
            assert behaviour(request) == oracle.answer(request), (uid, stage)
        assert injected(model(name, rate=0.0, seed=3), uid) is None
    assert not faults.injection_folder(tmp_path, name).exists()


@pytest.mark.parametrize("name", ERRING)
def test_an_answer_differs_exactly_where_a_fault_is_injected(name: str, tmp_path: Path) -> None:
    behaviour, hits = load_behaviour(name), 0
    for uid in (uid for uid in QUERIES if data_block(uid)):
        where = injected(model(name, rate=0.5, seed=11), uid)
        differs = []
        for stage in (1, 2):
            request = asked(uid, stage, tmp_path, rate=0.5, seed=11)
            differs.append(behaviour(request) != oracle.answer(request))
        assert differs == [where in (Metric.F1_SRC, Metric.F1_DER), where in (Metric.ER, Metric.VAS)], uid
        hits += where is not None
    assert len(records(tmp_path, name)) == hits > 0


def test_chance_depends_on_model_seed_and_query_alone() -> None:
    def hit(rate: float, model: str = "misreads", seed: int = 5) -> set[int]:
        dice = (Dice(model, FaultParameters(rate=rate, seed=seed), f"mini/{n}") for n in range(2000))
        return {number for number, one in enumerate(dice) if one.hit}

    few, half = hit(0.1), hit(0.5)
    assert few < half, "what is hit at a lower rate is hit at a higher one"
    assert 150 <= len(few) <= 250  # binomial: outside with a probability below 1e-3
    assert 920 <= len(half) <= 1080
    assert hit(1.0) == set(range(2000))
    assert hit(0.0) == set()
    assert 400 <= len(half & hit(0.5, seed=6)) <= 600, "another seed hits others"
    assert 400 <= len(half & hit(0.5, model="misdraws")) <= 600, "two models are hit independently"


def test_where_faults_show() -> None:
    def where(name: str, **parameters: Any) -> Metric | None:
        return injected(model(name, rate=1.0, **parameters), BARLEY)

    assert where("misreads") is Metric.F1_SRC
    assert where("miscalculates") is Metric.F1_DER
    assert where("misdraws") is Metric.VAS
    for name in ("crashes", "hangs", "truncates"):
        assert where(name, stage=1) is Metric.F1_SRC
        assert where(name, stage=2) is Metric.ER
        assert {injected(model(name, rate=1.0), f"q{n}") for n in range(20)} == {Metric.F1_SRC, Metric.ER}
    assert where("chatters") is None
    assert injected(ModelSpec(slug="gpt", litellm_model="openai/gpt"), BARLEY) is None


def test_a_crash_comes_after_the_output_is_there(tmp_path: Path) -> None:
    reply = breaks.crashes(asked(BARLEY, 1, tmp_path, rate=1.0, stage=1))
    code, state = ran(reply.text, tmp_path)
    assert (code, set(state)) == (1, {"src_data", "der_data"})
    (record,) = records(tmp_path, "crashes")
    assert (record["query"], record["stage"], record["kind"]) == (BARLEY, 1, "crashes")
    assert record["parameters"] == {"rate": 1.0, "seed": 0, "stage": 1}


def test_a_hanging_program_waits_beyond_any_limit() -> None:
    """That it is ended at its limit is shown with the mini benchmark, in test_llm_mini_chain."""
    assert breaks._HANG.splitlines()[-1] == "time.sleep(3600)"


@pytest.mark.parametrize("stage", [1, 2])
def test_a_truncated_answer_is_known_as_one(stage: int, tmp_path: Path) -> None:
    reply = breaks.truncates(asked(BARLEY, stage, tmp_path, rate=1.0, stage=stage))
    assert reply.finish_reason == "length"
    ended = program_in(_answer(reply), CodeType.PYTHON)
    assert getattr(ended, "kind", None) == "truncated"


def _answer(reply: ScriptedReply) -> ChatAnswer:
    return ChatAnswer(
        text=reply.text,
        finish_reason=reply.finish_reason,
        usage=Usage(input_tokens=1, output_tokens=1),
        price_usd=0.0,
        seconds=0.0,
        cached=False,
        key="k",
    )


@pytest.mark.parametrize("stage", [1, 2])
def test_chatter_hides_no_program(stage: int, tmp_path: Path) -> None:
    for uid in QUERIES:
        request = asked(uid, stage, tmp_path, rate=1.0)
        code = extract_code(chatters.answer(request).text, CodeType.PYTHON)
        assert code is not None
        assert code.n_blocks == 4
        assert code.source.strip() == oracle.answer(request).text.strip()


RANKED = """def derive(src):
    best = sorted(((facts["x"], name) for name, facts in src.items()), reverse=True)[:2]
    return {name: {"x": value} for value, name in best}
"""
FIVE = {name: {"x": value} for name, value in zip("abcde", (1, 5, 4, 2, 3), strict=True)}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("wrong_sign", {"b": {"x": -5}, "c": {"x": -4}}),
        ("percent_fraction", {"b": {"x": 0.05}, "c": {"x": 0.04}}),
        ("wrong_denominator", {"b": {"x": 5 * 2 / 3}, "c": {"x": 4 * 2 / 3}}),
        ("forgotten_entry", {"b": {"x": 5}}),
        ("reading_order", {"b": {"x": 5}, "a": {"x": 1}}),
    ],
)
def test_what_each_miscalculation_makes(kind: miscalculates.MiscalculationKind, expected: object) -> None:
    names: dict[str, Any] = {}
    exec(miscalculates.wrong_derivation(kind, RANKED), names)
    assert names["derive"](FIVE) == expected
    assert miscalculates.changes_values(kind, RANKED, FIVE)


def test_a_miscalculation_that_changes_nothing_is_not_chosen() -> None:
    every = "def derive(src):\n    return {name: facts['x'] for name, facts in src.items()}\n"
    kinds: tuple[miscalculates.MiscalculationKind, ...] = ("reading_order", "wrong_sign", "percent_fraction")
    assert [miscalculates.changes_values(kind, every, FIVE) for kind in kinds] == [False, True, True]
    zeros = {"a": {"x": 0}}
    assert [miscalculates.changes_values(kind, every, zeros) for kind in kinds] == [False, False, False]
    assert not miscalculates.changes_values("forgotten_entry", every, zeros), "nothing would be left: no valid J"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("uid", [BARLEY, LICHEN])
def test_miscalculated_data_have_the_right_sources(uid: str, seed: int, tmp_path: Path) -> None:
    wrong, right = (
        ran(behaviour(asked(uid, 1, tmp_path, rate=1.0, seed=seed)).text, tmp_path)
        for behaviour in (miscalculates.answer, oracle.answer)
    )
    assert (wrong[0], right[0]) == (0, 0)
    assert wrong[1]["src_data"] == right[1]["src_data"]
    assert sorted(numeric_leaves(wrong[1]["der_data"])) != sorted(numeric_leaves(right[1]["der_data"]))
    (record,) = records(tmp_path, "miscalculates")
    assert record["n_derived"] == len(numeric_leaves(right[1]["der_data"]))


def test_without_sources_nothing_can_be_miscalculated(tmp_path: Path) -> None:
    finance = next(uid for uid in QUERIES if "finance" in uid)
    request = asked(finance, 1, tmp_path, rate=1.0)
    assert miscalculates.answer(request) == oracle.answer(request)


@pytest.mark.parametrize("behaviour", [misreads.answer, miscalculates.answer, misdraws.answer, breaks.hangs])
def test_what_the_oracle_cannot_do_is_refused(behaviour: Behaviour, tmp_path: Path) -> None:
    messages = PROMPTS.messages(
        "stage1", chart_type=None, chart_layout=None, chart_purpose="Draw a hat.", documents=[], chunks=[]
    )
    request = ScriptedRequest(messages, {"rate": 1.0}, EvidenceStore(tmp_path), tmp_path)
    assert behaviour(request).finish_reason == "refusal"


def test_a_version_names_what_it_follows() -> None:
    for module in (misreads, miscalculates, misdraws, breaks, chatters):
        assert module.VERSION.endswith(f"faults {faults.FAULTS_VERSION}, oracle {oracle.VERSION}")


def test_the_documentation_names_every_fault_and_every_form_of_question() -> None:
    text = (PROJECT_ROOT / "docs" / "scripted-models.md").read_text(encoding="utf-8")
    kinds = [*get_args(misreads.MisreadKind), *get_args(miscalculates.MiscalculationKind)]
    for name in [*kinds, *get_args(misdraws.MisdrawingKind), *ERRING, "oracle", "chatters"]:
        assert f"`{name}`" in text, name
    for form in FORMS:
        assert f"* {re.sub(r'{[a-z_]+}', '…', form.text.replace('{series}', ''))}\n" in text, form

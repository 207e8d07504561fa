"""Stage 1 on a small storage: what is asked, what is kept, which ends are failures and which are errors."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from deepchart_dagster.artifacts.canonical import InputKey, changed_parts, sha256_bytes
from deepchart_dagster.artifacts.results import Outcome, Status
from deepchart_dagster.artifacts.steps import Step, Work, run_step
from deepchart_dagster.benchmark.model import Modality, Split
from deepchart_dagster.errors import ProviderTimeout
from deepchart_dagster.execution.model import Limits
from deepchart_dagster.generation.asking import asked_instances
from deepchart_dagster.generation.prompts import OUR_FOLDER, PromptSet
from deepchart_dagster.llm.model import ImagePart
from deepchart_dagster.llm.registry import Prices
from deepchart_dagster.llm.scripted import misreads, oracle

GROWTH, MARGIN, REPORT = "t/growth", "t/margin", "t/report"
NORMAL = Split.FINANCE_NORMAL
ASSET = "predicted_states"


def writes(text: str) -> str:
    """A program that writes ``text`` to its output."""
    return f"import sys\nopen(sys.argv[1], 'w').write({text!r})\n"


def user_text(house, uid: str = GROWTH) -> str:
    messages = json.loads((house.folder(ASSET, uid) / "messages.json").read_text())["messages"]
    return messages[-1]["parts"][0]["text"]


def test_a_good_answer_becomes_j_with_its_counts(house) -> None:
    summary = house.states().run(NORMAL, house.model)
    assert (summary.n_total, summary.n_ok, summary.n_computed) == (2, 2, 2), summary
    result = house.result(ASSET)
    assert result.status is Status.OK
    assert result.value == {"n_source": 4, "n_derived": 2}  # "1,250" counts, "of revenue" does not
    assert sorted(result.files) == ["answer.txt", "messages.json", "program.py", "state.json"]
    state = json.loads((house.folder(ASSET) / "state.json").read_text())
    assert state["der_data"]["margin"] == [0.2, 0.04]
    seen = result.observations
    assert (seen["calls"], seen["price_usd"], seen["input_tokens"], seen["output_tokens"]) == (1, 0.25, 1000, 50)
    assert summary.observed("calls") == 2


def test_the_messages_hold_intent_and_every_document_with_its_filing(house) -> None:
    house.states().run(NORMAL, house.model)
    text = user_text(house)
    assert "Chart purpose: Draw with python the growth of Acme for 2021 and 2022.\n" in text
    assert "{code_type}" not in text
    assert "Chart type: Bar Chart\n" in text
    assert "Chart layout: One panel, bars from left to right.\n" in text
    assert (
        "### Document 1: Acme 10-K 2022 [acme-2022] (Balance_Sheet.md)\n````\n# Acme\nrevenue of t/growth 100.0\n````"
        in text
    )


def test_what_a_query_lacks_has_no_line(house) -> None:
    house.states().run(NORMAL, house.model)
    text = user_text(house, MARGIN)
    assert "Chart layout" not in text
    assert "Chart type" not in text
    assert "None" not in text


def test_a_second_run_computes_nothing_and_asks_nobody(house) -> None:
    first = house.states().run(NORMAL, house.model)
    house.provider.asked.clear()
    second = house.states().run(NORMAL, house.model)
    assert (second.n_reused, second.n_total, len(house.provider.asked)) == (2, 2, 0)
    assert second.data_version == first.data_version


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("", "empty_answer"),
        ("I cannot find these figures.", "no_code"),
        ("import sys\nraise SystemExit(3)", "crash"),
        ("import sys\nx = = 1\n", "crash"),
        ("import time\ntime.sleep(30)", "timeout"),
        ("print('{}')", "no_output"),
        (writes("{'src': 1}"), "invalid_output"),
        (writes("[1, 2]"), "invalid_output"),
        (writes("[" * 300 + "]" * 300), "invalid_output"),
        (writes('{"src_data": [1, NaN], "der_data": [2]}'), "invalid_output"),
        (writes('{"src_data": [1, 1e999], "der_data": [2]}'), "invalid_output"),
        (writes('{"der_data": [1]}'), "missing_src_data"),
        (writes('{"src_data": {}, "der_data": [1]}'), "missing_src_data"),
        (writes('{"src_data": [1]}'), "missing_der_data"),
        (writes('{"src_data": [1], "der_data": null}'), "missing_der_data"),
    ],
)
def test_what_the_model_does_wrong_is_a_failure_of_its_kind(house, answer: str, kind: str) -> None:
    house.provider.answers["stage1"] = answer
    house.limits = Limits(wall_s=1.5)
    house.states().run(NORMAL, house.model)
    result = house.result(ASSET)
    assert (result.status, result.problem.kind) == (Status.FAILED, kind)
    assert result.observations["calls"] == 1
    assert (house.folder(ASSET) / "answer.txt").read_text() == answer


@pytest.mark.parametrize(
    ("finish", "answer", "kind"),
    [
        ("length", "import sys\nrows = [1,", "truncated"),
        ("length", "```python\nimport sys\nrows = [1]\n", "truncated"),
        ("length", "import sys\nprint(1)\n", "truncated"),
        ("length", "", "truncated"),
        ("length", f"```python\n{writes('{}')}```\nThis program", "missing_src_data"),
        ("refusal", "", "refusal"),
        ("refusal", "I won't do that.", "refusal"),
    ],
)
def test_cut_off_and_refused_answers_are_told_apart(house, finish, answer: str, kind: str) -> None:
    house.provider.answers["stage1"], house.provider.finish_reason = answer, finish
    house.states().run(NORMAL, house.model)
    assert house.result(ASSET).problem.kind == kind


def test_a_failure_is_kept_and_not_asked_again(house) -> None:
    house.provider.answers["stage1"] = "no"
    house.states().run(NORMAL, house.model)
    summary = house.states().run(NORMAL, house.model)
    assert (summary.n_reused, summary.n_failed, len(house.provider.asked)) == (2, 2, 2)


def test_where_the_reference_has_no_derived_data_the_source_side_is_enough(house) -> None:
    house.provider.answers["stage1"] = writes('{"src_data": [1]}')
    house.states().run(NORMAL, house.model)
    assert house.result(ASSET, GROWTH).problem.kind == "missing_der_data"
    assert house.result(ASSET, MARGIN).value == {"n_source": 1, "n_derived": 0}


@pytest.mark.parametrize(("n_derived", "status"), [(0, Status.OK), (5, Status.FAILED)])
def test_a_computed_reference_says_whether_there_is_derived_data(house, n_derived: int, status: Status) -> None:
    async def compute(folder: Path) -> Outcome:
        return Outcome(value={"n_derived": n_derived})

    run_step(
        house.store, Step("references", ("finance-normal",), ()), [Work(GROWTH, InputKey.of(n=n_derived), compute)]
    )
    house.provider.answers["stage1"] = writes('{"src_data": [1]}')
    house.states().run(NORMAL, house.model)
    assert house.result(ASSET, GROWTH).status is status


def test_known_misspellings_are_accepted_and_recorded(house) -> None:
    house.provider.answers["stage1"] = writes('{"data_list": {"scr_data": [1], "chart_data": [2, 3]}}')
    house.states().run(NORMAL, house.model)
    assert house.result(ASSET).value == {
        "n_source": 1,
        "n_derived": 2,
        "misspelled": {"src_data": "scr_data", "der_data": "chart_data"},
    }


def test_a_provider_error_is_ours_stays_unscored_and_is_tried_again(house) -> None:
    house.provider.answers["stage1"] = ProviderTimeout("openai/m did not answer in 600 s.")
    summary = house.states().run(NORMAL, house.model)
    assert (summary.n_error, summary.n_failed) == (2, 0)
    assert summary.errors[0].kind == "ProviderTimeout"
    house.provider.answers["stage1"] = writes('{"src_data": [1], "der_data": [2]}')
    assert house.states().run(NORMAL, house.model).n_ok == 2


def test_a_host_without_a_sandbox_is_an_error_not_a_failure(house) -> None:
    house.runner.refuses = True
    summary = house.states().run(NORMAL, house.model)
    assert {problem.kind for problem in summary.errors} == {"SandboxUnavailable"}
    assert "no user namespaces here" in summary.errors[0].message


def test_a_missing_context_blocks_that_instance_only(house) -> None:
    other = house.store.folder("context_variants", ("finance-normal",), MARGIN)
    (other / "result.json").unlink()
    summary = house.states().run(NORMAL, house.model)
    assert (summary.n_ok, summary.n_error) == (1, 1)
    assert summary.errors[0].uid == MARGIN
    assert "Make it: deepchart materialize context_variants --split finance-normal." in summary.errors[0].message
    assert len(house.provider.asked) == 1


def test_a_missing_context_file_is_named(house) -> None:
    (house.store.folder("context_variants", ("finance-normal",), MARGIN) / "files" / "Balance_Sheet.md").unlink()
    summary = house.states().run(NORMAL, house.model)
    assert [problem.kind for problem in summary.errors] == ["MissingInputError"]
    assert "Balance_Sheet.md" in summary.errors[0].message
    assert len(house.provider.asked) == 1


def test_a_damaged_context_names_its_file(house) -> None:
    (house.store.folder("context_variants", ("finance-normal",), MARGIN) / "context.json").write_text("{", "utf-8")
    summary = house.states().run(NORMAL, house.model)
    assert [(problem.uid, problem.kind) for problem in summary.errors] == [(MARGIN, "UpstreamError")]
    assert "context.json was changed after context_variants made it" in summary.errors[0].message


class Busy:
    """Counts how many are inside at once."""

    def __init__(self) -> None:
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def __enter__(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.now -= 1


def test_programs_keep_to_their_limit_and_the_client_has_more_to_do_than_it_may(
    house, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.add_queries(10)
    house.provider.answers["stage1"] = writes('{"src_data": [1], "der_data": [2]}')
    calls, programs = Busy(), Busy()
    complete, run = house.provider.complete, house.runner.run

    async def slow_complete(request):
        with calls:
            await asyncio.sleep(0.05)
            return await complete(request)

    def slow_run(program):
        with programs:
            time.sleep(0.05)
            return run(program)

    monkeypatch.setattr(house.provider, "complete", slow_complete)
    monkeypatch.setattr(house.runner, "run", slow_run)
    assert house.states().run(NORMAL, house.model).n_ok == 12
    # What the client is given: ModelSpec.concurrency (3), a quarter of it, workers (2).
    assert (calls.most, programs.most) == (6, 2)


def changed(house, before: dict[str, InputKey]) -> set[str]:
    """Names of the key parts that changed, over both instances."""
    after = {work.uid: work.key for work in house.states().plan(NORMAL, house.model)}
    return {name for uid, key in after.items() for name in changed_parts(before[uid].parts, key.parts)}


def test_a_new_version_of_a_scripted_model_makes_its_states_stale(house, monkeypatch: pytest.MonkeyPatch) -> None:
    house.model = house.model.model_copy(update={"litellm_model": "scripted/oracle"})
    misreading = house.model.model_copy(update={"litellm_model": "scripted/misreads"})
    house.states().run(NORMAL, house.model)
    assert house.states().run(NORMAL, house.model).n_reused == 2
    before = {work.uid: work.key for work in house.states().plan(NORMAL, house.model)}
    misread_before = [work.key for work in house.states().plan(NORMAL, misreading)]

    monkeypatch.setattr(oracle, "VERSION", "another")

    assert changed(house, before) == {"program"}
    assert house.states().run(NORMAL, house.model).n_computed == 2
    assert house.result(ASSET).key_parts["program"].startswith("another, files ")
    # A version of the misreads names the oracle's, when its module is loaded.
    monkeypatch.setattr(misreads, "VERSION", "1, oracle another")
    assert all(old != new.key for old, new in zip(misread_before, house.states().plan(NORMAL, misreading), strict=True))


def test_the_key_holds_what_the_output_depends_on_and_nothing_else(house, tmp_path: Path) -> None:
    def update(**fields: object) -> None:
        house.model = house.model.model_copy(update=fields)

    before = {work.uid: work.key for work in house.states().plan(NORMAL, house.model)}
    update(prices=Prices(input_per_million=9.0), concurrency=64, timeout_s=5.0, name="M", slug="other")
    assert changed(house, before) == set()
    update(parameters={"reasoning_effort": "low"})
    assert changed(house, before) == {"parameters"}
    update(parameters={}, litellm_model="openai/n")
    assert changed(house, before) == {"model"}
    update(litellm_model="openai/m", context_window=64_000)
    assert changed(house, before) == {"budget"}
    update(context_window=128_000)
    house.limits = Limits(wall_s=21.0)
    assert changed(house, before) == {"limits"}
    house.limits = Limits(wall_s=20.0)
    house.runner.versions["numpy"] = "2"
    assert changed(house, before) == {"runner"}
    house.runner.versions.pop("numpy")
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "stage1.yaml").write_text((OUR_FOLDER / "stage1.yaml").read_text() + "# another\n", encoding="utf-8")
    house.prompts = PromptSet.load(folder)
    assert changed(house, before) == {"prompt"}
    house.prompts = PromptSet.load(None)
    house.put_context(GROWTH, NORMAL, {"Balance_Sheet.md": "another text"})
    assert changed(house, before) == {"context"}


def test_a_changed_context_is_computed_again_for_that_instance(house) -> None:
    house.states().run(NORMAL, house.model)
    house.put_context(GROWTH, NORMAL, {"Balance_Sheet.md": "another text"})
    summary = house.states().run(NORMAL, house.model)
    assert (summary.n_computed, summary.n_reused, summary.computed_uids) == (1, 1, {GROWTH})


def test_a_model_is_asked_only_in_its_protocol_and_about_benchmarks_it_knows(house) -> None:
    text_only = house.model.model_copy(update={"protocols": (Modality.TEXT,)})
    assert house.states().plan(Split.ECOSYSTEM, text_only) == []
    assert asked_instances(house.library, Split.ECOSYSTEM, text_only) == []
    assert [instance.uid for instance in asked_instances(house.library, Split.ECOSYSTEM, house.model)] == [REPORT]
    assert [work.uid for work in house.states().plan(Split.ECOSYSTEM, house.model)] == [REPORT]
    assert house.states().plan(NORMAL, house.model.model_copy(update={"benchmarks": ("mini",)})) == []


def test_a_report_is_shown_as_chunks_in_order_with_index_and_pages(house) -> None:
    house.model = house.model.model_copy(update={"max_image_chunks": 2})
    house.states().run(Split.ECOSYSTEM, house.model)
    (request,) = house.provider.asked
    user = request.messages[-1]
    assert user.parts[0].text.endswith("Chunk 1: rust-2024, pages 1-8\nChunk 2: rust-2024, pages 9-16")
    pictures = user.parts[1:]
    assert [picture.read() for picture in pictures] == [b"jpeg 1", b"jpeg 2"]
    assert all(isinstance(picture, ImagePart) for picture in pictures)
    kept = json.loads((house.folder(ASSET, REPORT, Split.ECOSYSTEM) / "messages.json").read_text())
    assert kept["messages"][-1]["parts"][1]["image"] == sha256_bytes(b"jpeg 1")
    assert (kept["input"]["n_chunks"], kept["input"]["cut"]["chunks"]) == (2, 1)
    assert kept["input"]["picture_tokens"] == 2 * 2000  # 1500 × 1000 pixels / 750


def test_a_long_context_is_cut_and_the_instructions_are_not(house) -> None:
    house.model = house.model.model_copy(update={"context_window": 2000})
    long = "".join(f"line {n}: {n * 7}\n" for n in range(3000))
    house.put_context(GROWTH, NORMAL, {"First.md": "short\n", "Second.md": long, "Third.md": "last"})
    house.states().run(NORMAL, house.model)
    text = user_text(house)
    kept = json.loads((house.folder(ASSET) / "messages.json").read_text())["input"]
    assert kept["fixed_tokens"] + kept["context_tokens"] <= 1600
    assert kept["fixed_tokens"] + kept["context_tokens"] > 1590
    assert kept["cut"]["files"] == ["acme-2022/Third.md"]
    assert kept["cut"]["cut_file"] == "acme-2022/Second.md"
    assert "Chart purpose: Draw with python" in text
    assert "### Document 2: Acme 10-K 2022 [acme-2022] (Second.md)\n````\nline 0: 0\nline 1: 7\n" in text
    assert text.endswith("````")
    assert "Third.md" not in text

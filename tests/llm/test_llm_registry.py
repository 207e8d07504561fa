"""models.yaml and judges.yaml: what ships, and one clear line for what is wrong."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from deepchart_dagster.benchmark.model import Modality
from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.registry import load_judges, load_models
from deepchart_dagster.settings import PROJECT_ROOT

MODELS = PROJECT_ROOT / "models.yaml"
JUDGES = PROJECT_ROOT / "judges.yaml"
PAPER_TABLE = PROJECT_ROOT.parent / "shared" / "paper" / "tables" / "main_results.csv"


def complaint(path: Path, load=load_models) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert str(path) in caught.value.message
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "some.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_the_papers_models_ship_with_the_papers_names_and_families():
    if not PAPER_TABLE.is_file():
        pytest.skip("the shared folder with the paper's tables is not here")
    with PAPER_TABLE.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    models = [model for model in load_models(MODELS).values() if not model.scripted]
    assert {(model.name, model.family) for model in models} == {(row["model"], row["family"]) for row in rows}
    for modality, splits in ((Modality.MULTIMODAL, {"ecosystem"}), (Modality.TEXT, {"finance-normal"})):
        evaluated = {row["model"] for row in rows if row["split"] in splits}
        assert {model.name for model in models if model.speaks(modality)} == evaluated
        assert len(evaluated) == 8


def test_scripted_models_ship_and_know_only_the_mini_benchmark():
    models = load_models(MODELS)
    oracle, misreads = models["oracle"], models["misreads"]
    assert misreads.parameters == {"rate": 0.5, "seed": 2026, "share": 0.25}
    for model in (oracle, misreads):
        assert model.scripted
        assert model.family == "scripted"
        assert model.knows("mini")
        assert not model.knows("published")
        assert (model.prices.input_per_million, model.prices.output_per_million) == (0, 0)
    assert models["gpt-5.2"].knows("published")


def test_shipped_prices_and_windows_are_litellms_where_it_has_the_model():
    """Unmarked entries must be in litellm's table, at its prices; marked ones must not, and have no price."""
    table = litellm_library().model_cost
    lines = {path: path.read_text().splitlines() for path in (MODELS, JUDGES)}
    entries = [(MODELS, model) for model in load_models(MODELS).values()]
    entries += [(JUDGES, judge) for judge in load_judges(JUDGES).judges.values()]
    for path, model in entries:
        if model.scripted:
            continue
        (line,) = {line for line in lines[path] if f"litellm_model: {model.litellm_model}" in line}
        known = table.get(model.litellm_model) or table.get(model.litellm_model.split("/", 1)[1])
        assert ("litellm's table" in line) == (known is None), model.slug
        if known is None:
            assert model.prices.input_per_million is None, model.slug
            continue
        tier = (known.get("tiered_pricing") or [known])[0]
        assert model.prices.input_per_million == pytest.approx(tier["input_cost_per_token"] * 1e6), model.slug
        assert model.prices.output_per_million == pytest.approx(tier["output_cost_per_token"] * 1e6), model.slug
        assert model.context_window >= known["max_input_tokens"], model.slug


def test_reasoning_effort_stands_exactly_where_the_provider_takes_it():
    from deepchart_dagster.llm.litellm_call import dropped_parameters

    for model in load_models(MODELS).values():
        if model.scripted:
            continue
        known = dropped_parameters(model, {"reasoning_effort": "low"}) == ()
        assert (model.parameters.get("reasoning_effort") == "low") == known, model.slug
        assert dropped_parameters(model, model.parameters) == (), model.slug


def test_the_papers_judges_ship():
    judges = load_judges(JUDGES)
    assert judges.judge_for("published").litellm_model == "dashscope/qwen3-vl-flash-2025-10-15"
    assert judges.writer_for("published").slug == "gemini-3-pro"
    assert {"gpt-5.2", "gpt-4o-mini", "qwen3.5-plus"} <= judges.judges.keys()
    assert all(judge.protocols == (Modality.MULTIMODAL,) for judge in judges.judges.values())


def test_the_mini_benchmark_is_judged_by_programs_unless_asked_otherwise():
    judges = load_judges(JUDGES)
    assert judges.judge_for("mini").litellm_model == "scripted/judge"
    assert judges.writer_for("mini").litellm_model == "scripted/rubric-writer"
    assert judges.judge_for("mini", "gpt-5.2").slug == "gpt-5.2"
    assert judges.writer_for("published", "scripted-writer").scripted
    with pytest.raises(ConfigurationError, match=r"no judge 'gpt-5\.3'; did you mean 'gpt-5\.2'\?"):
        judges.judge_for("mini", "gpt-5.3")


def test_a_minimal_entry_gets_the_defaults(write):
    models = load_models(write("models:\n  tiny:\n    litellm_model: openai/tiny\n"))
    tiny = models["tiny"]
    assert (tiny.slug, tiny.name, tiny.protocols) == ("tiny", "tiny", (Modality.TEXT,))
    assert tiny.prices.input_per_million is None


def test_invalid_yaml_names_line_and_column(write):
    said = complaint(write("models:\n  a:\n    litellm_model: [unclosed\n  b: {}\n"))
    assert "line 4" in said
    assert "invalid YAML" in said


def test_an_unknown_key_names_line_slug_and_what_was_meant(write):
    said = complaint(write("models:\n  fast:\n    litellm_model: openai/x\n    concurency: 3\n"))
    assert "line 4: models.fast.concurency: unknown key; did you mean 'concurrency'?" in said
    assert "did you mean 'concurrency'? Known keys: litellm_model, name" in said


def test_an_unknown_key_inside_prices(write):
    said = complaint(write("models:\n  a:\n    litellm_model: x\n    prices:\n      input_per_milion: 1\n"))
    assert "line 5: models.a.prices.input_per_milion: unknown key; did you mean 'input_per_million'?" in said


@pytest.mark.parametrize("slug", ["gpt/5", "a|b", "a,b", "a[1]", "a b", "-a", ".a", "a" * 101, "ü", ""])
def test_a_slug_that_dagster_cannot_take(write, slug):
    said = complaint(write(f"models:\n  ok: {{litellm_model: x}}\n  '{slug}': {{litellm_model: openai/x}}\n"))
    assert "line 3" in said
    assert repr(slug) in said


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            "litellm_model: scripted/misreads\n    parameters:\n      rate: 0.5\n      sede: 3",
            "line 6: models.a.parameters.sede: unknown key; did you mean 'seed'? Known keys: rate, seed, share.",
        ),
        (
            "litellm_model: scripted/misreads\n    parameters: {rate: 1.5}",
            "line 4: models.a.parameters.rate: input should be less than or equal to 1, not 1.5.",
        ),
        (
            "litellm_model: scripted/misreads\n    parameters: {seed: '3'}",
            "line 4: models.a.parameters.seed: input should be a valid integer, not '3'.",
        ),
        (
            "litellm_model: scripted/oracle\n    parameters: {rate: 0.5}",
            "line 4: models.a.parameters.rate: unknown key. Remove this line: nothing is known there.",
        ),
        (
            "litellm_model: scripted/orakle",
            "line 3: models.a.litellm_model: there is no scripted model 'orakle'; did you mean 'oracle'? Known: oracle",
        ),
    ],
)
def test_a_scripted_model_takes_what_its_program_reads(write, entry, words):
    assert words in complaint(write(f"models:\n  a:\n    {entry}\n"))


def test_a_scripted_judge_takes_no_parameters(write):
    said = complaint(write(JUDGE_TEXT.replace("openai/one", "scripted/judge, parameters: {seed: 1}")), load_judges)
    assert "line 5: judges.one.parameters.seed: unknown key." in said


def test_a_slug_that_stands_twice_names_both_lines(write):
    said = complaint(write("models:\n  a: {litellm_model: x}\n  b: {litellm_model: y}\n  a: {litellm_model: z}\n"))
    assert "line 4: models.a stands twice (first on line 2)" in said


def test_a_field_that_stands_twice(write):
    said = complaint(write("models:\n  a:\n    litellm_model: x\n    timeout_s: 5\n    timeout_s: 6\n"))
    assert "line 5: models.a.timeout_s stands twice (first on line 4)" in said


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("concurrency: '4'", "models.a.concurrency: input should be a valid integer, not '4'"),
        ("concurrency: true", "models.a.concurrency: input should be a valid integer, not True"),
        ("concurrency: 0", "models.a.concurrency: input should be greater than or equal to 1, not 0"),
        ("timeout_s: fast", "models.a.timeout_s: input should be a valid number, not 'fast'"),
        ("context_window: 1.5", "models.a.context_window: input should be a valid integer"),
        ("protocols: [speech]", "models.a.protocols.0: input should be 'text' or 'multimodal', not 'speech'"),
        ("protocols: text", "models.a.protocols: input should be a valid array, not 'text'"),
        ("protocols: []", "models.a.protocols"),
        ("prices: 3", "models.a.prices"),
        ("prices: {input_per_million: -1}", "models.a.prices.input_per_million"),
        ("parameters: [1]", "models.a.parameters"),
        ("slug: b", "models.a.slug: the slug is the entry's own key"),
        ("parameters: {stream: true}", "stream is set by the client"),
        # What would fail later, or deceive.
        ('name: "a\\nb"', "models.a.name: holds a line break"),
        ('name: "a\\0b"', "models.a.name: holds a line break"),
        ('name: "\\ud800"', "models.a.name: '\\ud800' holds half a character"),
        (f"name: {'x' * 101}", "at most 100 characters"),
        ("prices: {input_per_million: 1.0e+308}", "less than or equal to 1000000"),
        ("timeout_s: 1.0e+300", "less than or equal to 86400"),
        ("api_base: localhost:8000/v1", "must be an address as in http://host:8000/v1"),
        ("api_base: ''", "must be an address as in http://host:8000/v1"),
        ("parameters: {mock_response: fine}", "one answer of this very model is what is scored"),
        ("parameters: {fallbacks: [openai/other]}", "one answer of this very model is what is scored"),
        ("parameters: {n: 3}", "one answer of this very model is what is scored"),
    ],
)
def test_a_wrong_value_names_its_place(write, entry, words):
    said = complaint(write(f"models:\n  a:\n    litellm_model: openai/x\n    {entry}\n"))
    assert "line 4" in said
    assert words in said


def test_a_missing_model_name(write):
    said = complaint(write("models:\n  a:\n    name: A\n"))
    assert "line 2: models.a.litellm_model: is missing" in said


def test_a_misspelt_model_name_is_shown_where_it_stands(write):
    said = complaint(write("models:\n  a:\n    name: A\n    litellm_modell: openai/x\n"))
    assert "line 4: models.a.litellm_modell: unknown key; did you mean 'litellm_model'? (and 1 more)" in said


@pytest.mark.parametrize("key", ["1", "4.7", "on", "2025-10-15", "null"])
def test_a_slug_that_yaml_reads_as_something_else(write, key):
    said = complaint(write(f"models:\n  {key}: {{litellm_model: x}}\n"))
    assert "Write it in quotes" in said


def test_a_date_or_an_infinity_as_a_value(write):
    said = complaint(write("models:\n  a:\n    litellm_model: x\n    parameters: {since: 2025-10-15}\n"))
    assert "line 4: models.a.parameters.since: it is read as a date. Write it in quotes." in said
    said = complaint(write("models:\n  a:\n    litellm_model: x\n    timeout_s: .inf\n"))
    assert "line 4: models.a.timeout_s: inf is no number." in said


def _doubling(first: str, each: str) -> str:
    """Ten lines, of which each names the one before nine times."""
    lines = [f"p{n + 1}: &a{n + 1} {each % ', '.join([f'*a{n}'] * 9)}" for n in range(9)]
    inside = "".join(f"      {line}\n" for line in [f"p0: &a0 {first}", *lines])
    return f"models:\n  a:\n    litellm_model: x/y\n    parameters:\n{inside}"


@pytest.mark.parametrize(("first", "each"), [("[1]", "[%s]"), ("{k: 1}", "{<<: [%s]}")])
def test_aliases_that_would_never_end_are_refused_at_once(write, first, each):
    assert "with its aliases (*) written out it has more than 100,000" in complaint(write(_doubling(first, each)))


def test_what_has_no_end_is_not_read(write, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device" in complaint(tmp_path / "pipe")
    assert "1,200,000 bytes" in complaint(write("# x\n" * 300_000))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n",
        "models:\n",
        "models: [a]\n",
        "model: {}\n",
        "models:\n  a:\n",
        "models:\n  a: x\n",
        # Hostile.
        b"models:\n  a: {litellm_model: '\xff'}\n",
        "models: &a\n  b: *a\n",
        "models: !!python/object/apply:os.getcwd []\n",
        "models: {a: {litellm_model: x}}\n---\nmodels: {}\n",
        "models:\n\ta: 1\n",
        "models: *nowhere\n",
        "? [a, b]\n: c\n",
    ],
)
def test_a_file_of_another_shape_is_one_clear_line(write, text):
    assert "some.yaml" in complaint(write(text))


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot read" in complaint(tmp_path / "none.yaml")
    assert "cannot read" in complaint(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        "parameters: {api_key: sk-very-secret-123456}",
        "api_base: https://user:sk-very-secret-123456@host/v1",
        "parameters: {extra_headers: {Authorization: sk-very-secret-123456}}",
        "parameters: {extra_body: {auth: [{Api-Key: sk-very-secret-123456}]}}",
        "api_base: https://host/v1?key=sk-very-secret-123456",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(write, entry):
    said = complaint(write(f"models:\n  a:\n    litellm_model: x\n    {entry}\n"))
    assert "environment" in said
    assert "very-secret" not in said


JUDGE_TEXT = """
primary: one
rubric_writer: two
judges:
  one: {litellm_model: openai/one}
  two: {litellm_model: openai/two, protocols: [text, multimodal]}
"""


def test_a_judge_reads_images_unless_it_says_otherwise(write):
    judges = load_judges(write(JUDGE_TEXT))
    assert judges.judge_for("x").protocols == (Modality.MULTIMODAL,)
    assert judges.writer_for("x").protocols == (Modality.TEXT, Modality.MULTIMODAL)


def test_a_benchmark_may_change_only_its_writer(write):
    judges = load_judges(write(JUDGE_TEXT + "for_benchmark:\n  b: {rubric_writer: one}\n"))
    assert (judges.judge_for("b").slug, judges.writer_for("b").slug) == ("one", "one")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("primary: one", "primary: onee"), "line 2: primary: no judge is called 'onee'; did you mean 'one'?"),
        (("rubric_writer: two", "rubric_writer: 2"), "line 3: rubric_writer: input should be a valid string, not 2"),
        (("primary: one", ""), "primary: is missing"),
        (("judges:", "judge:"), "judges"),
        (
            ("openai/one}", "openai/one, protocol: [text]}"),
            "judges.one.protocol: unknown key; did you mean 'protocols'",
        ),
    ],
)
def test_a_wrong_judges_file(write, change, words):
    assert words in complaint(write(JUDGE_TEXT.replace(*change)), load_judges)


def test_an_unknown_judge_for_a_benchmark(write):
    said = complaint(write(JUDGE_TEXT + "for_benchmark:\n  mini: {primary: three}\n"), load_judges)
    assert "line 8: for_benchmark.mini.primary: no judge is called 'three'" in said


TWO_SERVERS = """models:
  large:
    litellm_model: hosted_vllm/default
    api_base: http://127.0.0.1:8000/v1
  small:
    litellm_model: hosted_vllm/default
    api_base: http://127.0.0.1:8001/v1
"""


def test_two_servers_with_a_model_of_one_name_are_told_apart_or_refused(write):
    said = complaint(write(TWO_SERVERS))
    assert "line 5: models.small: it would be given the answers of large" in said
    assert "revision" in said
    told_apart = load_models(write(TWO_SERVERS + "    revision: small-8b\n"))
    assert told_apart["large"].identity() != told_apart["small"].identity()


@pytest.mark.parametrize("more", ["    parameters: {temperature: 0.2}\n", "    revision: small-8b\n"])
def test_two_servers_whose_answers_are_kept_apart_are_taken(write, more):
    assert set(load_models(write(TWO_SERVERS + more))) == {"large", "small"}


def test_one_server_may_stand_twice(write):
    assert set(load_models(write(TWO_SERVERS.replace("8001", "8000")))) == {"large", "small"}


def test_two_judges_at_two_servers_are_told_apart_or_refused(write):
    text = TWO_SERVERS.replace("models:", "judges:") + "primary: large\nrubric_writer: large\n"
    assert "judges.small: it would be given the answers of large" in complaint(write(text), load_judges)

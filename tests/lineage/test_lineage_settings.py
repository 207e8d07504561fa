"""Every setting and field of models.yaml and judges.yaml changed once: docs/lineage.md says which keys it is in."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from lineage_slice import JUDGE, MODEL, SPLIT

from deepchart_dagster.benchmark.model import Modality
from deepchart_dagster.contexts.model_input import budget_identity
from deepchart_dagster.execution.browser import Browser
from deepchart_dagster.lineage.graph import NODES, partition_keys, plan
from deepchart_dagster.llm.registry import BenchmarkJudges, JudgesFile, ModelSpec, Prices
from deepchart_dagster.settings import _OTHER_VARIABLES, Settings, load_settings
from deepchart_dagster.workbench import Workbench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
WRITER = "scripted-writer"
ASSETS = {node.name for node in NODES}
Keys = Mapping[str, Any]


def _rows(first_column: str) -> dict[str, list[set[str]]]:
    """Of the table whose first column is called so: each name in it -> the assets that the other columns name."""
    lines = (ROOT / "docs" / "lineage.md").read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    found: dict[str, list[set[str]]] = {}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        names, *columns = (set(re.findall(r"`([^`]+)`", cell)) for cell in line.strip("|").split("|"))
        for name in names:
            assert name not in found, f"{name} stands there twice"
            found[name] = [column & ASSETS for column in columns]
    return found


SETTINGS = {name: columns[0] for name, columns in _rows("setting").items()}
FIELDS = _rows("field in models.yaml and judges.yaml")


def test_the_tables_are_complete() -> None:
    assert set(SETTINGS) == {*Settings.model_fields, *_OTHER_VARIABLES}
    assert set(FIELDS) == set(ModelSpec.model_fields)
    assert set(OTHER) == set(SETTINGS)
    assert set(OTHER_FIELDS) == set(FIELDS)


@pytest.fixture(scope="module")
def storage(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stage of two queries, of which one is asked for in HTML now."""
    copied = Path(shutil.copytree(whole, tmp_path_factory.mktemp("settings") / "storage"))
    queries = copied / "benchmarks" / "mini" / "queries.jsonl"
    first, *others = (json.loads(line) for line in queries.read_text().splitlines())
    rows = [{**first, "code_types": ["html"]}, *others]
    queries.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return copied


def _keys(bench: Workbench) -> Keys:
    """Asset -> partition -> instance -> key, as a run would have them now."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for node in NODES:
        for key in partition_keys(bench, node, [MODEL], [SPLIT]):
            if key.judge in (None, JUDGE):
                found.setdefault(node.name, {})[str(key)] = {work.uid: work.key.digest for work in plan(bench, key)}
    return found


def _differing(one: Keys, other: Keys) -> set[str]:
    return {name for name in one if one[name] != other[name]}


@dataclass(frozen=True)
class Other:
    """Another value of a setting: ``value`` of the folder that the test has; ``beside``: what is set before and after;
    ``patches``: what another program or folder at that place would be."""

    value: Callable[[Path], object]
    beside: Mapping[str, Any] = field(default_factory=dict)
    patches: Mapping[str, Any] = field(default_factory=dict)


def _prompts(folder: Path) -> Path:
    """Each prompt as it is, in a file that is another one."""
    copied = Path(shutil.copytree(ROOT / "deepchart_dagster/generation/prompt_files", folder / "prompts"))
    for path in copied.glob("*.yaml"):
        path.write_text(path.read_text() + "\n# another version\n")
    return copied


def _copy(name: str) -> Callable[[Path], Path]:
    return lambda folder: Path(shutil.copyfile(ROOT / name, folder / name))


def _uids(folder: Path) -> Path:
    listed = folder / "uids.txt"
    listed.write_text("mini/academic-barley-roots\nmini/academic-lichen-growth\n")
    return listed


def _models_of_ocr(*parts: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        for part in parts:
            (folder / "ocr" / part).mkdir(parents=True)
            for name in ("inference.onnx", "inference.yml"):
                (folder / "ocr" / part / name).write_text("weights")
        return folder / "ocr"

    return made


def _chart_libraries(folder: Path) -> Path:
    package = folder / "libraries" / "echarts"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "echarts", "version": "5.0.0"}')
    return package.parent


SERVER = {"vl_server_url": "http://127.0.0.1:9/v1"}
OTHER: dict[str, Other] = {
    "storage": Other(lambda folder: folder / "moved"),
    "models_file": Other(_copy("models.yaml")),
    "judges_file": Other(_copy("judges.yaml")),
    "prompts": Other(_prompts),
    "benchmarks": Other(lambda _: ("mini",)),
    "ultra_long": Other(lambda _: "all"),
    "picture_store": Other(lambda _: "memory://pictures"),
    "picture_url": Other(lambda _: "https://pictures.example/", {"picture_store": "memory://pictures"}),
    "backend_study": Other(_uids),
    "judge": Other(lambda _: "gpt-4o-mini"),
    "rubric_writer": Other(lambda _: "gpt-5.2"),
    "hidden_vas": Other(lambda _: 0.9),
    "hidden_f1": Other(lambda _: 0.4),
    "workers": Other(lambda _: 7),
    "call_attempts": Other(lambda _: 2),
    "max_cost": Other(lambda _: 5.0),
    "max_tokens": Other(lambda _: 10**9),
    "budget_since": Other(lambda _: "2026-11-30T08:00+01:00"),
    "only_errors": Other(lambda _: True),
    "stage1_timeout_s": Other(lambda _: 59.0),
    "chart_timeout_s": Other(lambda _: 119.0),
    "sandbox": Other(lambda _: "trusted"),
    "container_engine": Other(lambda _: "unix:///nowhere.sock"),
    "container_image": Other(lambda _: "another"),
    "fork_servers_mb": Other(lambda _: 0),
    "page_timeout_s": Other(lambda _: 60.0),
    "pages_per_child": Other(lambda _: 3),
    "page_memory_mb": Other(lambda _: 4096),
    "max_pages": Other(lambda _: 10),
    "ocr_engine": Other(lambda _: "text-layer"),
    "ocr_dpi": Other(lambda _: 200),
    "ocr_max_pixels": Other(lambda _: 1_000_000),
    "paddle_models": Other(_models_of_ocr("det", "rec")),
    "vl_server_url": Other(lambda _: SERVER["vl_server_url"]),
    "vl_model": Other(lambda _: "another", SERVER),
    "vl_models": Other(_models_of_ocr("layout"), SERVER),
    "vl_download": Other(lambda _: True, SERVER),
    "vl_timeout_s": Other(lambda _: 7.0, SERVER),
    "CHROMIUM": Other(
        lambda folder: folder / "chromium",
        patches={"deepchart_dagster.execution.runner.find_browser": lambda _: Browser(Path("chromium"), "999.0.1")},
    ),
    "CHART_LIBRARIES": Other(_chart_libraries),
    "DUCKDB": Other(lambda folder: folder / "other.duckdb"),
    "VL_API_KEY": Other(lambda _: "a-key", SERVER),
}


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_setting_is_in_the_keys_that_the_table_names(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    other = OTHER[name]
    with Workbench(load_settings(**{"storage": storage, **other.beside})) as bench:
        before = _keys(bench)
    value = other.value(tmp_path)
    overrides = {"storage": storage, **other.beside}
    if name in Settings.model_fields:
        overrides[name] = value
    else:
        monkeypatch.setenv(f"DEEPCHART_{name}", str(value))
    if name == "storage":
        shutil.copytree(storage, tmp_path / "moved")
    with ExitStack() as stack:
        for target, instead in other.patches.items():
            stack.enter_context(patch(target, instead))
        after = _keys(stack.enter_context(Workbench(load_settings(**overrides))))
    assert _differing(before, after) == SETTINGS[name]


def test_another_server_of_the_same_model_is_no_other_engine(storage: Path) -> None:
    keys = []
    for address in ("http://127.0.0.1:9/v1", "http://elsewhere:8000/v1"):
        with Workbench(load_settings(storage=storage, vl_server_url=address)) as bench:
            keys.append(_keys(bench))
    assert keys[0] == keys[1]


OTHER_FIELDS: dict[str, Any] = {
    "slug": "another",
    "litellm_model": "scripted/chatters",
    "name": "another",
    "family": "another",
    "protocols": (Modality.TEXT, Modality.MULTIMODAL),
    "context_window": 999,
    "parameters": {"temperature": 0.5},
    "prices": Prices(input_per_million=7.0, output_per_million=7.0),
    "concurrency": 1,
    "timeout_s": 3.0,
    "stream": True,
    "max_image_chunks": 2,
    "api_base": "http://elsewhere/v1",
    "revision": "another",
    "benchmarks": ("mini", "other"),
}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_field_is_in_the_keys_that_the_table_names(storage: Path, name: str) -> None:
    of_model, of_judge, of_writer = FIELDS[name]
    change = {name: OTHER_FIELDS[name]}
    with Workbench(load_settings(storage=storage)) as bench:
        before, model, judges = _keys(bench), bench.models[MODEL], bench.judges
        changed = model.model_copy(update=change)
        budgets = [budget_identity(each, Modality.MULTIMODAL) for each in (model, changed)]
    found = _differing(before, _with(storage, models={MODEL: model if name == "slug" else changed}))
    if name == "max_image_chunks":  # of native pages alone, which this slice has none of
        assert budgets[0] != budgets[1]
        assert not found
        found = {"predicted_states"}
    assert found == of_model
    assert _differing(before, _with(storage, judges=_changed(judges, JUDGE, change))) == of_judge
    assert _differing(before, _with(storage, judges=_changed(judges, WRITER, change))) == of_writer


def test_who_judges_is_in_the_keys_of_what_is_judged(storage: Path) -> None:
    with Workbench(load_settings(storage=storage)) as bench:
        plain = bench.judges.model_copy(update={"for_benchmark": {}, "primary": JUDGE, "rubric_writer": WRITER})
        before = _keys(bench)
    assert _with(storage, judges=plain) == before
    judged = {"rubrics", "visual_accuracy", "backend_scores"}  # judge_verdicts asks each judge by name
    for update, expected in (
        ({"primary": "gpt-4o-mini"}, judged),
        ({"rubric_writer": "gpt-4o-mini"}, {"rubrics"}),
        ({"for_benchmark": {"mini": BenchmarkJudges(primary="gpt-4o-mini")}}, judged),
        ({"for_benchmark": {"mini": BenchmarkJudges(rubric_writer="gpt-4o-mini")}}, {"rubrics"}),
    ):
        assert _differing(before, _with(storage, judges=plain.model_copy(update=update))) == expected


def _with(storage: Path, **known: object) -> Keys:
    """Keys where models.yaml or judges.yaml say something else."""
    with Workbench(load_settings(storage=storage)) as bench:
        bench.__dict__.update(known)
        return _keys(bench)


def _changed(judges: JudgesFile, slug: str, change: Mapping[str, Any]) -> JudgesFile:
    return judges.model_copy(update={"judges": dict(_entries(judges, slug, change))})


def _entries(judges: JudgesFile, slug: str, change: Mapping[str, Any]) -> Iterator[tuple[str, ModelSpec]]:
    for name, spec in judges.judges.items():
        yield name, spec.model_copy(update=change) if name == slug else spec

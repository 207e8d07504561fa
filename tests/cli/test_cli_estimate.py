"""Price before spending: what a materialization would ask, and budgets that stop it, against a real endpoint."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_command import PROJECT, Ran, deepchart

INSTANCES = 6
KEY = "sk-budget-0123456789abcdefXYZ"
BENCHMARKS = PROJECT / "benchmarks"


def _prepared(storage: Path, instances: int, context_kb: int) -> None:
    """The benchmark that benchmarks/generation.py asks about."""
    spec = importlib.util.spec_from_file_location("generation_benchmark", BENCHMARKS / "generation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.prepared(storage, instances, context_kb)


@dataclass
class Place:
    storage: Path
    environment: dict[str, str]
    endpoint: subprocess.Popen[str]

    def run(self, *arguments: object, **more: str) -> Ran:
        environment = {**self.environment, **more}
        return deepchart(*arguments, "--storage", self.storage, "--json", environment=environment)

    @property
    def calls(self) -> int:
        assert self.endpoint.stdin is not None
        assert self.endpoint.stdout is not None
        self.endpoint.stdin.write("counts\n")
        self.endpoint.stdin.flush()
        return int(json.loads(self.endpoint.stdout.readline())["calls"])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A storage with six queries and contexts, a priced and an unpriced model, and the endpoint that they ask."""
    (tmp_path / "place").mkdir()
    storage = tmp_path / "place" / "storage"
    storage.mkdir()
    _prepared(storage, INSTANCES, 4)
    command = [sys.executable, str(BENCHMARKS / "chat_endpoint.py"), "--latency", "0.05"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        entry = f"api_base: {url}, context_window: 100000, concurrency: 4"
        models = tmp_path / "models.yaml"
        models.write_text(
            "models:\n"
            f"  own: {{litellm_model: openai/own, {entry}, "
            "prices: {input_per_million: 2.0, output_per_million: 10.0}}\n"
            f"  unpriced: {{litellm_model: openai/unpriced, {entry}}}\n"
        )
        yield Place(storage, {"DEEPCHART_MODELS_FILE": str(models), "OPENAI_API_KEY": KEY}, endpoint)
        endpoint.kill()


def estimate(place: Place, *arguments: str) -> dict[str, Any]:
    ran = place.run("estimate", *arguments, "--split", "finance-normal")
    assert ran.code == 0, ran.err
    told: dict[str, Any] = ran.json
    return told


STATES = ("predicted_states", "--model", "own")


def test_an_estimate_counts_the_very_requests_and_asks_nobody(place: Place) -> None:
    told = estimate(place, *STATES)
    (row,) = told["estimates"]
    assert (row["asset"], row["split"], row["model"], row["asked"]) == (
        "predicted_states",
        "finance-normal",
        "own",
        "own",
    )
    assert (row["instances"], row["cached"], row["guessed"]) == (INSTANCES, 0, 0)
    assert row["calls"] == {"low": 6, "expected": 6, "high": 6}
    shown = place.run("prompt", "speed/000", "--model", "own", "--split", "finance-normal", "--stage", "1").json
    assert row["input_tokens"]["expected"] == pytest.approx(6 * shown["calls"][0]["text_tokens"], rel=0.01)
    tokens, out = row["input_tokens"]["expected"], row["output_tokens"]["expected"]
    assert row["price_usd"]["expected"] == pytest.approx((2.0 * tokens + 10.0 * out) / 1e6, rel=1e-4)
    assert row["price_usd"]["low"] < row["price_usd"]["expected"] < row["price_usd"]["high"]
    assert told["total"]["price_usd"] == row["price_usd"]
    assert place.calls == 0


def test_an_unknown_price_is_unknown_and_so_is_the_sum(place: Place) -> None:
    told = estimate(place, "predicted_states", "--model", "own", "--model", "unpriced")
    by_model = {row["model"]: row["price_usd"] for row in told["estimates"]}
    assert by_model["unpriced"] is None
    assert told["total"]["price_usd"] is None
    assert told["total"]["price_usd_where_known"] == by_model["own"]
    assert told["total"]["unknown_prices"] == ["unpriced"]
    text = deepchart(
        "estimate", "predicted_states", "--model", "unpriced", "--storage", place.storage, environment=place.environment
    )
    assert "unknown" in text.out
    assert " 0.00" not in text.out


def test_stage_two_is_guessed_until_stage_one_is_there(place: Place) -> None:
    told = estimate(place, "predicted_states+", "--model", "own")
    by_asset = {row["asset"]: row for row in told["estimates"]}
    assert by_asset["rendered_charts"]["guessed"] == INSTANCES
    assert by_asset["rendered_charts"]["calls"] == {"low": 3, "expected": 6, "high": 6}


def test_the_study_of_backends_is_estimated_where_it_is_asked_for(place: Place) -> None:
    rows = estimate(place, "backend_charts", "--model", "own")["estimates"]
    assert [(row["backend"], row["split"], row["calls"]["expected"]) for row in rows] == [
        ("python", None, INSTANCES),
        ("html", None, INSTANCES),
        ("free", None, INSTANCES),
    ]
    default = place.run("estimate", "--model", "own", "--split", "finance-normal").json["estimates"]
    assert "backend_charts" not in {row["asset"] for row in default}


def test_what_asks_nobody_has_no_estimate(place: Place) -> None:
    ran = place.run("estimate", "source_fidelity", "--model", "own")
    assert ran.code == 2
    assert "asks no model" in ran.json["error"]["message"]
    ran = place.run("estimate", "predicted_stats", "--model", "own")
    assert ran.code == 2


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_answers_that_are_stored_ask_nobody_and_teach_what_calls_take(place: Place) -> None:
    assert place.run("materialize", *STATES, "--split", "finance-normal").code == 0
    assert place.calls == INSTANCES
    assert estimate(place, *STATES)["total"]["calls"]["high"] == 0, "nothing is to be computed"
    shutil.rmtree(place.storage / "predicted_states")
    told = estimate(place, *STATES)
    assert (told["total"]["calls"]["high"], told["estimates"][0]["cached"]) == (0, INSTANCES)
    assert place.run("materialize", *STATES, "--split", "finance-normal").code == 0
    assert place.calls == INSTANCES, "as the estimate said"
    shutil.rmtree(place.storage / "predicted_states")
    shutil.rmtree(place.storage / "llm" / "answers")
    again = estimate(place, *STATES)["estimates"][0]
    assert again["output_tokens"] == {"low": 120, "expected": 120, "high": 120}, "20 a call: the ledger knows"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_another_prompt_set_is_another_question(place: Place, tmp_path: Path) -> None:
    own = tmp_path / "prompts"
    own.mkdir()
    (own / "stage1.yaml").write_text("user: 'In our words: {{ chart_purpose }} {{ data }}'\n")
    selected = ("predicted_states", "--model", "own", "--split", "finance-normal")
    done = place.run("materialize", *selected, "--prompts", own)
    assert (done.code, place.calls) == (0, INSTANCES)
    sent = [json.loads(path.read_text()) for path in place.storage.glob("predicted_states/**/messages.json")]
    assert len(sent) == INSTANCES
    assert all(one["messages"][0]["parts"][0]["text"].startswith("In our words: Draw with python") for one in sent)
    assert place.run("estimate", *selected, "--prompts", own).json["total"]["calls"]["high"] == 0
    assert place.run("estimate", *selected).json["total"]["calls"]["high"] == INSTANCES
    missing = place.run("materialize", *selected, "--prompts", own / "none")
    assert missing.code == 2
    assert "none is not there" in missing.complaint


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_budget_stops_keeps_and_says_how_to_go_on(place: Place) -> None:
    stopped = place.run("materialize", *STATES, "--split", "finance-normal", "--max-tokens", 6500)
    assert stopped.code == 1, stopped.err
    (row,) = stopped.json["materialized"]
    bought = place.calls
    assert 1 <= bought < INSTANCES
    assert row["n_error"] == INSTANCES - bought
    assert "budget: " in stopped.err
    results = [json.loads(path.read_text()) for path in place.storage.glob("predicted_states/*/own/*/result.json")]
    problems = {
        result["problem"]["kind"]: result["problem"]["message"] for result in results if result["status"] == "error"
    }
    assert set(problems) == {"BudgetReached"}
    assert "--retry-errors" in problems["BudgetReached"]
    rows = [json.loads(line) for path in place.storage.glob("llm/ledger/*.jsonl") for line in path.open()]
    assert sum(each["input_tokens"] + each["output_tokens"] for each in rows if each["status"] == "ok") <= 6500
    finished = place.run("materialize", *STATES, "--split", "finance-normal", "--retry-errors", "--max-cost", 5)
    assert finished.code == 0, finished.err
    assert place.calls == INSTANCES, "each was asked once"
    (row,) = finished.json["materialized"]
    assert (row["n_computed"], row["n_reused"], row["n_error"]) == (INSTANCES - bought, bought, 0)
    assert KEY not in "".join(path.read_text(errors="replace") for path in place.storage.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_budget_that_allows_nothing_and_one_without_prices(place: Place) -> None:
    nothing = place.run("materialize", *STATES, "--split", "finance-normal", "--max-cost", 0.000001)
    assert nothing.code == 3, nothing.err
    unpriced = ("predicted_states", "--model", "unpriced", "--split", "finance-normal")
    refused = place.run("materialize", *unpriced, "--max-cost", 10)
    assert refused.code == 2
    assert "the price of unpriced is unknown" in refused.json["error"]["message"]
    since = place.run("materialize", *unpriced, DEEPCHART_BUDGET_SINCE="yesterday", DEEPCHART_MAX_TOKENS="5")
    assert since.code == 2
    assert "DEEPCHART_BUDGET_SINCE" in since.json["error"]["message"]
    assert place.calls == 0

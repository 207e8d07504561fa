"""``deepchart models`` and ``deepchart doctor``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_command import PROJECT, deepchart, process

SHIPPED = yaml.safe_load((PROJECT / "models.yaml").read_text(encoding="utf-8"))["models"]


def test_the_models_that_ship(storage: Path) -> None:
    ran = process("models", "list", "--storage", storage, "--json")
    assert (ran.code, ran.err) == (0, "")
    models = {model["slug"]: model for model in ran.json["models"]}
    assert list(models) == list(SHIPPED)
    assert models["gpt-5.2"]["litellm_model"] == SHIPPED["gpt-5.2"]["litellm_model"]
    assert models["gpt-5.2"]["protocols"] == ["text", "multimodal"]
    assert models["gpt-5.2"]["parameters"] == {"reasoning_effort": "low"}


def test_scripted_models_are_called_scripted_once(storage: Path) -> None:
    lines = {line.split()[0]: line for line in deepchart("models", "list", "--storage", storage).out.splitlines()}
    assert list(lines) == list(SHIPPED)
    assert {slug for slug, line in lines.items() if line.count("(scripted)") == 1} == {
        "oracle",
        "misreads",
        "miscalculates",
        "misdraws",
        "crashes",
        "hangs",
        "truncates",
        "chatters",
    }
    # Leaderboard and report add the word from what the model is: a name that carries it too would say it twice.
    assert not [slug for slug, model in SHIPPED.items() if "scripted" in model.get("name", "")]


@pytest.mark.slow
def test_sync_says_what_was_added_and_what_became_orphaned(storage: Path, tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    environment = {"DEEPCHART_MODELS_FILE": str(file)}

    def sync(*slugs: str, json: bool = True) -> Any:
        file.write_text(yaml.safe_dump({"models": {slug: {"litellm_model": "x/y"} for slug in slugs}}))
        ran = deepchart("models", "sync", "--storage", storage, *(["--json"] if json else []), environment=environment)
        assert (ran.code, ran.err) == (0, "")
        return ran.json if json else ran.out

    assert sync("a", "b") == {"added": ["a", "b"], "orphaned": []}
    assert sync("a", "b", json=False) == "Nothing changed.\n"
    assert sync("b", "c", json=False) == "added     c\norphaned  a: what it left stays until deepchart prune\n"
    assert sync("a", "b", "c") == {"added": ["a"], "orphaned": []}


def test_doctor_names_one_way_to_install_extras(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    found = {one["what"]: one for one in deepchart("doctor", "--storage", storage, "--json").json["findings"]}
    container = found["sandbox container"]
    assert (container["verdict"], container["detail"]) == ("missing", "the Python package docker is not installed")
    assert container["remedy"] == ".venv/bin/python -m uv pip install -c requirements.lock -e '.[docker]'"


def test_doctor_as_json(storage: Path) -> None:
    ran = process("doctor", "--storage", storage, "--json", environment={"OPENAI_API_KEY": "sk-canary-4711"})
    assert ran.err == ""
    assert "sk-canary-4711" not in ran.out
    assert set(ran.json) == {"findings", "settings"}
    findings = {one["what"]: one for one in ran.json["findings"]}
    assert all(set(one) == {"what", "verdict", "detail", "remedy", "needed"} for one in ran.json["findings"])
    assert {one["verdict"] for one in ran.json["findings"]} <= {"ok", "missing", "broken"}
    assert all(one["remedy"] for one in ran.json["findings"] if one["verdict"] == "missing" and one["needed"])
    assert findings["dagster"]["verdict"] == "ok"
    assert findings["models.yaml"] == {
        "what": "models.yaml",
        "verdict": "ok",
        "detail": f"{len(SHIPPED)} models",
        "remedy": "",
        "needed": True,
    }
    assert (findings["model gpt-5.2"]["verdict"], findings["model gpt-5.2"]["detail"]) == ("ok", "key present")
    claude = findings["model claude-opus-4.5"]
    assert (claude["verdict"], claude["needed"]) == ("missing", False)
    assert "ANTHROPIC_API_KEY" in claude["remedy"]
    needed = [one for one in ran.json["findings"] if one["needed"] and one["verdict"] != "ok"]
    assert ran.code == (1 if needed else 0)
    # Looking makes nothing.
    assert not storage.exists()


def test_doctor_in_words(storage: Path) -> None:
    lines = deepchart("doctor", "--storage", storage).out.splitlines()
    settings = lines.index("Settings (DEEPCHART_… in the environment)")
    assert all(line.split()[0] in ("ok", "missing", "broken") for line in lines[: settings - 1])
    assert any(line.split()[:2] == ["DEEPCHART_STORAGE", str(storage)] for line in lines[settings + 1 :])


def test_doctor_says_in_which_keys_a_setting_is(storage: Path) -> None:
    text = deepchart("doctor", "--storage", storage).out
    assert "every key" not in text
    for words in (
        "in the keys of states, charts, rubrics and verdicts",
        "in the keys of states)",
        "in the keys of charts)",
    ):
        assert words in text


def test_doctor_finds_broken_configuration(storage: Path, tmp_path: Path) -> None:
    broken = tmp_path / "judges.yaml"
    broken.write_text("judges: {}\nprimary: a\nrubric_writer: a\n", encoding="utf-8")
    ran = deepchart("doctor", "--storage", storage, "--json", environment={"DEEPCHART_JUDGES_FILE": str(broken)})
    assert ran.code == 1
    (finding,) = [one for one in ran.json["findings"] if one["what"] == "judges.yaml"]
    assert (finding["verdict"], finding["needed"]) == ("broken", True)
    assert "line 2: primary: no judge is called 'a'" in finding["detail"]


def test_doctor_names_a_model_whose_provider_nobody_knows(storage: Path, tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text("models:\n  mine:\n    litellm_model: my-server/llama\n", encoding="utf-8")
    ran = deepchart("doctor", "--storage", storage, "--json", environment={"DEEPCHART_MODELS_FILE": str(models)})
    (finding,) = [one for one in ran.json["findings"] if one["what"] == "model mine"]
    assert (finding["verdict"], finding["detail"]) == ("broken", "litellm knows no provider of 'my-server/llama'")
    assert "hosted_vllm/NAME" in finding["remedy"]

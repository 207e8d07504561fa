"""models.yaml and DEEPCHART_* with something wrong in them: one line with file, line and remedy, exit code 2."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_command import command_line, deepchart

ENTRY = "models:\n  mine:\n    litellm_model: openai/mine\n"


def _models(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return {"DEEPCHART_MODELS_FILE": str(path)}


@pytest.mark.parametrize("command", [["models", "list"], ["models", "sync"], ["status"], ["status", "--model", "mine"]])
def test_an_unknown_key_stops_every_command_that_reads_models(
    tmp_path: Path, storage: Path, command: list[str]
) -> None:
    environment = _models(tmp_path, ENTRY + "    contxt_window: 1000\n")
    ran = deepchart(*command, "--storage", storage, "--json", environment=environment)
    assert ran.code == 2
    assert ran.complaint.startswith(
        f"{tmp_path}/models.yaml, line 4: models.mine.contxt_window: unknown key; did you mean 'context_window'?"
    )
    assert ran.json["error"]["kind"] == "ConfigurationError"
    assert ran.json["error"]["remedy"].startswith("Known keys: litellm_model, name")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models:\n  a|b:\n    litellm_model: x/y\n", "line 2: models.a|b: 'a|b' cannot be a partition key"),
        ("models:\n  'gpt 5':\n    litellm_model: x/y\n", "line 2: models.gpt 5: 'gpt 5' cannot be a partition key"),
        ("models:\n  openai/gpt:\n    litellm_model: x/y\n", "belongs in litellm_model"),
        ("models:\n  a: {litellm_model: x\n", "invalid YAML"),
        ("models:\n\ta: 1\n", "line 2, column 1: invalid YAML"),
        ("", "a mapping is expected at the top"),
        ("models: []\n", "'models:' must be there and be a mapping"),
        ("models:\n  a: {litellm_model: x/y, concurrency: 0}\n", "models.a.concurrency: input should be greater"),
        ("models:\n  a: {litellm_model: x/y, parameters: {api_key: sk-1}}\n", "keys come from the environment"),
        ("models:\n  a: {name: A}\n", "models.a.litellm_model: is missing"),
    ],
)
def test_a_models_file_that_cannot_be(tmp_path: Path, storage: Path, text: str, words: str) -> None:
    ran = deepchart("models", "list", "--storage", storage, environment=_models(tmp_path, text))
    assert (ran.code, ran.out) == (2, "")
    assert ran.complaint.startswith(f"{tmp_path}/models.yaml")
    assert words in ran.complaint
    assert "sk-1" not in ran.complaint


def test_results_of_before_stay_where_models_yaml_breaks(tmp_path: Path, storage: Path, sample: Path) -> None:
    deepchart("import", sample, "--storage", storage)
    before = sorted(path for path in storage.rglob("*") if path.is_file())
    deepchart("status", "--storage", storage, environment=_models(tmp_path, "models: ["))
    assert sorted(path for path in storage.rglob("*") if path.is_file()) == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WORKERS", "many", "must be a valid integer. It sets: programs run at once, and processes that read pages."),
        (
            "WORKERS",
            "0",
            "must be greater than or equal to 1. It sets: programs run at once, and processes that read pages.",
        ),
        ("WORKERS", "1e9", "must be a valid integer"),
        ("SANDBOX", "none", "must be 'auto', 'namespaces', 'landlock', 'container' or 'trusted'."),
        ("OCR_ENGINE", "tesseract", "must be 'auto', 'text-layer', 'rapidocr', 'paddleocr' or 'paddleocr-vl'."),
        ("STAGE1_TIMEOUT_S", "-1", "must be greater than 0. It sets: seconds that a stage-1 program may take"),
        ("STAGE1_TIMEOUT_S", "nan", "must be a finite number"),
        ("CHART_TIMEOUT_S", "inf", "must be a finite number"),
        ("CHART_TIMEOUT_S", "1000000", "must be less than or equal to 86400"),
    ],
)
def test_a_setting_that_cannot_be(storage: Path, name: str, value: str, words: str) -> None:
    ran = deepchart("verify", "--storage", storage, "--json", environment={f"DEEPCHART_{name}": value})
    assert ran.code == 2
    assert ran.complaint.startswith(f"DEEPCHART_{name}={value!r}: ")
    assert words in ran.complaint
    assert ran.json["error"]["kind"] == "ConfigurationError"


@pytest.mark.parametrize(
    ("name", "command", "words"),
    [
        ("MODELS_FILE", ["models", "list"], "cannot read {0}: No such file or directory. Give the path of a file."),
        ("BENCHMARKS", ["status"], "there is no benchmark named '{0}'"),
        (
            "PROMPTS",
            ["prompt", "finance/1", "--model", "gpt-5.2", "--split", "finance-normal", "--stage", "1"],
            "the prompt folder {0} is not there.",
        ),
    ],
)
def test_a_setting_that_names_nothing(
    storage: Path, sample: Path, tmp_path: Path, name: str, command: list[str], words: str
) -> None:
    deepchart("import", sample, "--storage", storage)
    value = "nope" if name == "BENCHMARKS" else str(tmp_path / "nope")
    ran = deepchart(*command, "--storage", storage, environment={f"DEEPCHART_{name}": value})
    assert ran.code == 2
    assert words.format(value) in ran.complaint


@pytest.mark.slow
def test_an_unknown_judge_is_known_before_anything_runs(storage: Path, sample: Path) -> None:
    deepchart("import", sample, "--storage", storage)
    ran = deepchart(
        "materialize",
        "references,rubrics",
        "--split",
        "finance-normal",
        "--storage",
        storage,
        environment={"DEEPCHART_JUDGE": "gpt-5"},
    )
    assert ran.code == 2
    assert "judges.yaml has no judge 'gpt-5'; did you mean 'gpt-5.2'?" in ran.complaint
    assert not (storage / "references").exists()


def test_doctor_names_a_variable_that_nothing_reads(storage: Path) -> None:
    environment = {"DEEPCHART_WORKER": "3", "DEEPCHART_ZZZ": "1"}
    findings = deepchart("doctor", "--json", "--storage", storage, environment=environment).json["findings"]
    unread = {one["what"]: one["remedy"] for one in findings if one["detail"] == "set, but nothing reads it"}
    assert unread == {
        "DEEPCHART_WORKER": "Did you mean DEEPCHART_WORKERS?",
        "DEEPCHART_ZZZ": "The settings are listed below.",
    }


def test_every_command_says_once_which_variable_nothing_reads(storage: Path) -> None:
    environment = {"DEEPCHART_MAXCOST": "2", "DEEPCHART_ZZZ": "1"}
    ran = deepchart("documents", "list", "--storage", storage, environment=environment)
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "deepchart: DEEPCHART_MAXCOST is set, but nothing reads it; did you mean DEEPCHART_MAX_COST?",
        "deepchart: DEEPCHART_ZZZ is set, but nothing reads it; deepchart doctor lists the settings.",
    ]


@pytest.mark.parametrize("name", ["what?", "[a]", "all*", "nul\0", "line\nbreak", "caf\udce9"])
def test_a_storage_folder_that_dagster_could_not_use_is_refused_before_anything_is_written(
    tmp_path: Path, name: str
) -> None:
    ran = deepchart("models", "sync", "--storage", tmp_path / name)
    assert ran.code == 2
    assert ran.complaint.startswith(f"the storage folder {str(tmp_path / name)!r} holds one of ?*[ or a character")
    assert ran.complaint.endswith("Choose another one with --storage or DEEPCHART_STORAGE.")
    assert list(tmp_path.iterdir()) == []


def test_a_storage_folder_of_nobody_is_one_line() -> None:
    ran = deepchart("status", "--storage", "~no-such-user/x")
    assert (ran.code, ran.complaint.split(". ")[0]) == (
        2,
        "the storage folder '~no-such-user/x': there is no such user",
    )


@pytest.mark.parametrize("command", [["status"], ["verify"], ["documents", "list"], ["demo"]])
@pytest.mark.parametrize("below", ["", "further/down"])
def test_a_storage_folder_that_is_a_file_is_refused(tmp_path: Path, command: list[str], below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    ran = deepchart(*command, "--storage", file / below)
    assert ran.code == 2
    assert ran.complaint.startswith(f"the storage folder {file / below} cannot be: {file} is a file. Choose another")
    assert file.read_text() == "mine"


def test_verify_says_that_there_is_nothing_to_verify(tmp_path: Path) -> None:
    ran = deepchart("verify", "--storage", tmp_path / "typo")
    assert (ran.code, ran.out) == (3, "")
    assert ran.complaint.startswith(f"{tmp_path / 'typo'} is not there: nothing can be verified.")


@pytest.mark.parametrize("content", [b"\xff: [", b"nonsense: {a: 1}\n", b"- a\n- b: ["])
def test_a_dagster_yaml_that_cannot_be_used_is_named(storage: Path, content: bytes) -> None:
    config = storage / "dagster_home" / "dagster.yaml"
    config.parent.mkdir(parents=True)
    config.write_bytes(content)
    ran = deepchart("models", "sync", "--storage", storage)
    assert ran.code == 2
    assert ran.complaint.startswith(f"{config} cannot be used: ")
    assert ran.complaint.endswith("Correct it, or delete it: then it is written anew.")
    assert len(ran.complaint) < 600
    assert config.read_bytes() == content


@pytest.mark.slow
def test_commands_that_start_together_on_a_new_storage_do_not_disturb_each_other(storage: Path) -> None:
    commands = [command_line("models", "sync", "--storage", storage, "--json") for _ in range(4)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for command in commands]
    ended = [(process.communicate(timeout=240), process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0, 0, 0], ended
    added = [slug for (out, _), _ in ended for slug in json.loads(out)["added"]]
    assert len(added) == len(set(added)) > 0

"""What every command shares: help, usage errors, exit codes, one JSON document, --storage anywhere."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pymupdf
import pytest
from cli_command import Ran, command_line, deepchart, process

from deepchart_dagster import __version__
from deepchart_dagster.cli.group import cli


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append(((*path, name), command))
        if isinstance(command, click.Group):
            found += _commands(command, (*path, name))
    return found


COMMANDS = _commands(cli)
LEAVES = [path for path, command in COMMANDS if not isinstance(command, click.Group)]


def test_every_command_of_the_contract_is_there() -> None:
    assert {" ".join(path) for path in LEAVES} == {
        "backends",
        "calibration",
        "compare",
        "contexts build",
        "contexts check",
        "contexts locate",
        "contexts make-paddle-models",
        "contexts show",
        "demo",
        "diagnosis",
        "doctor",
        "documents add",
        "documents inbox",
        "documents list",
        "documents remove",
        "documents set",
        "estimate",
        "hallucinations",
        "import",
        "leaderboard",
        "libraries install",
        "libraries list",
        "materialize",
        "metrics build",
        "metrics query",
        "metrics tables",
        "models list",
        "models sync",
        "prompt",
        "prune",
        "references check",
        "references sheet",
        "report",
        "rubrics export",
        "rubrics forget",
        "rubrics import",
        "run-program",
        "score-file",
        "status",
        "subset",
        "ui",
        "validation agreement",
        "validation disagreements",
        "validation draw",
        "validation import",
        "validation sheet",
        "verify",
        "why",
    }


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_help_has_an_example_that_the_command_takes(path: tuple[str, ...]) -> None:
    ran = deepchart(*path, "--help")
    assert (ran.code, ran.err) == (0, "")
    examples = [line.strip() for line in ran.out.splitlines() if line.strip().startswith("Example:")]
    assert len(examples) == 1
    assert examples[0].startswith(f"Example: deepchart {' '.join(path)}")


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_example_is_spelled_as_the_command_takes_it(path: tuple[str, ...]) -> None:
    """Its options exist and its required ones are given: Click reads it without a complaint."""
    example = next(line for line in deepchart(*path, "--help").out.splitlines() if "Example: deepchart " in line)
    command = dict(COMMANDS)[path]
    arguments = shlex.split(example)[2 + len(path) :]
    context = command.make_context(path[-1], arguments)
    assert set(context.params) == {parameter.name for parameter in command.params if parameter.expose_value}


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_takes_storage_and_json(path: tuple[str, ...]) -> None:
    names = {option for parameter in dict(COMMANDS)[path].params for option in parameter.opts}
    assert {"--storage", "--json"} <= names


def test_the_list_of_commands_is_whole_sentences() -> None:
    listed = deepchart("--help").out.partition("Commands:")[2].strip().splitlines()
    assert len(listed) == len({path[0] for path, _ in COMMANDS})
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


def test_no_command_prints_the_help_and_is_wrong_usage() -> None:
    for arguments in ([], ["documents"]):
        ran = deepchart(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("Usage: deepchart")
        assert "Commands:\n" in ran.err


def test_version() -> None:
    assert deepchart("--version").out == f"deepchart, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words", "see"),
    [
        (["nosuch"], "No such command 'nosuch'", "deepchart --help"),
        (["status", "--splt", "x"], "No such option '--splt'", "deepchart status --help"),
        (["status", "--split", "finance"], "'finance' is not one of 'academic-normal'", "deepchart status --help"),
        (["documents", "add"], "Missing argument 'PDFS...'", "deepchart documents add --help"),
        (["documents", "set"], "Missing argument 'ID'", "deepchart documents set --help"),
        (["status", "--storage", ""], "it names no folder", "deepchart status --help"),
    ],
)
def test_wrong_usage_is_one_line_that_says_where_help_is(arguments: list[str], words: str, see: str) -> None:
    plain = deepchart(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert words in plain.complaint
    assert plain.complaint.endswith(f"See {see}.")
    with_json = deepchart(*arguments, "--json")
    assert with_json.code == 2
    assert words in with_json.json["error"]["message"]
    assert with_json.json["error"]["remedy"] == f"See {see}."


@pytest.mark.parametrize(
    "arguments",
    [
        ["--storage", "{}", "documents", "list", "--json"],
        ["documents", "--storage", "{}", "list", "--json"],
        ["--json", "documents", "list", "--storage", "{}"],
        ["--storage", "elsewhere", "documents", "--json", "list", "--storage", "{}"],
    ],
)
def test_storage_and_json_stand_before_or_after_and_the_nearest_counts(
    arguments: list[str], storage: Path, tmp_path: Path
) -> None:
    pdf = tmp_path / "a.pdf"
    with pymupdf.open() as drawn:
        drawn.new_page()
        drawn.save(pdf)
    assert deepchart("documents", "add", pdf, "--domain", "academic", "--storage", storage).code == 0
    ran = deepchart(*(argument.format(storage) for argument in arguments))
    assert ran.code == 0
    assert [document["id"] for document in ran.json["documents"]] == ["a"]


def test_storage_from_the_environment(storage: Path) -> None:
    ran = deepchart("doctor", "--json", environment={"DEEPCHART_STORAGE": str(storage)})
    assert ran.json["settings"]["storage"] == str(storage)
    ran = deepchart("doctor", "--json", "--storage", storage, environment={"DEEPCHART_STORAGE": "/elsewhere"})
    assert ran.json["settings"]["storage"] == str(storage)


def test_exit_codes_of_the_process_itself(storage: Path) -> None:
    assert process("status", "--storage", storage).code == 0
    assert process("status", "--model", "nope", "--storage", storage).code == 2
    nothing = process("contexts", "build", "--storage", storage, "--json")
    assert nothing.code == 3
    assert nothing.json == {
        "error": {
            "kind": "NoWorkPossible",
            "message": "no documents are registered.",
            "remedy": "Add some: deepchart documents add FILE.pdf.",
        }
    }


def test_a_storage_root_that_is_a_file(tmp_path: Path, sample: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    ran = deepchart("import", sample, "--storage", taken)
    assert (ran.code, ran.out) == (2, "")
    assert str(taken) in ran.complaint
    assert taken.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("sys.modules['deepchart_dagster.lineage.verify'] = None", "ModuleNotFoundError"),
        ("import deepchart_dagster.lineage.verify as room\nroom.verify = lambda root: {}[1]", "KeyError: 1"),
        # Click takes this one for Ctrl-D at a prompt.
        ("import io, pickle\nimport deepchart_dagster.lineage.verify as room\n"
         "room.verify = lambda root: pickle.load(io.BytesIO())", "EOFError"),
    ],
)  # fmt: skip
def test_a_fault_of_ours_is_still_one_json_document(storage: Path, fault: str, words: str) -> None:
    """And a trace, since nobody else can say where it was."""
    storage.mkdir()
    call = f"from deepchart_dagster.cli.main import main\nmain(['verify', '--json', '--storage', {str(storage)!r}])"
    code = f"import sys\n{fault}\n{call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "InternalError"
    assert f"deepchart: a fault in deepchart: {words}" in done.stderr
    assert "Traceback" in done.stderr


def test_help_waits_for_nothing_heavy() -> None:
    code = (
        "import sys\nfrom deepchart_dagster.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'dagster', 'litellm', 'pandas', 'duckdb', 'matplotlib', 'playwright', 'fitz'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_stops_reading_is_no_error(storage: Path) -> None:
    """``deepchart models list | head -0``: no trace, no complaint."""
    reader, writer = subprocess.PIPE, None
    child = subprocess.Popen(
        command_line("models", "list", "--storage", storage), stdout=reader, stderr=subprocess.PIPE, stdin=writer
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    err = child.stderr.read().decode()
    child.stderr.close()
    child.wait(timeout=120)
    assert err == ""


def test_a_path_that_no_terminal_can_show_is_one_line_and_one_json_document(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pdf")
    command = command_line("documents", "add", "--domain", "finance", path, "--json", "--storage", tmp_path / "storage")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=120)
    ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert ran.code == 2
    assert ran.complaint == f"{tmp_path}/caf\\udce9.pdf: there is no such file. Check the path."
    assert path in json.dumps(ran.json, ensure_ascii=False)

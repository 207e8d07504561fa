"""``deepchart run-program``: a program's end is a result with exit code 0; what we cannot do is an error."""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path

import pytest
from cli_command import Ran, deepchart

STATE = {"src_data": {"a": 1}, "der_data": {"b": 2.5}}
KEYS = {
    "status",
    "exit_code",
    "signal",
    "wall_s",
    "cpu_s",
    "max_rss_mb",
    "tier",
    "message",
    "stderr_tail",
    "drawn",
    "requests",
    "versions",
}


def _run(tmp_path: Path, source: str, *options: object, stage: int = 1) -> Ran:
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    out = tmp_path / ("out.json" if stage == 1 else "out.png")
    return deepchart(
        "run-program", program, "--stage", stage, "--out", out, "--storage", tmp_path / "storage", *options
    )


WRITES_A_STATE = f"import json, sys\njson.dump({STATE!r}, open(sys.argv[1], 'w'))\n"


def test_a_program_that_does_its_work(tmp_path: Path) -> None:
    ran = _run(tmp_path, WRITES_A_STATE, "--json")
    assert (ran.code, ran.err) == (0, "")
    result = ran.json
    assert set(result) == KEYS
    assert (result["status"], result["exit_code"], result["drawn"]) == ("ok", 0, None)
    assert result["tier"] in ("namespaces", "landlock")
    assert 0 < result["wall_s"] < 60
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == STATE


@pytest.mark.parametrize(
    ("source", "status", "code", "words"),
    [
        ("import sys\nsys.exit('no such column')", "crash", 1, "no such column"),
        ("1 / 0", "crash", 1, "ZeroDivisionError"),
        ("print('done')", "no_output", 0, ""),
        ("import sys\nopen(sys.argv[1], 'w').write('{')", "invalid_output", 0, ""),
    ],
)
def test_a_program_that_fails_is_a_result(tmp_path: Path, source: str, status: str, code: int, words: str) -> None:
    ran = _run(tmp_path, source, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == KEYS
    assert (ran.json["status"], ran.json["exit_code"]) == (status, code)
    assert words in ran.json["stderr_tail"]
    assert not (tmp_path / "out.json").exists() or status == "invalid_output"


def test_a_program_that_does_not_end(tmp_path: Path) -> None:
    ran = _run(tmp_path, "while True: pass", "--timeout", "1", "--json")
    assert (ran.code, ran.json["status"], ran.json["exit_code"]) == (0, "timeout", None)
    assert 1.0 <= ran.json["wall_s"] < 20
    assert "after 1 s" in ran.json["message"]
    text = _run(tmp_path, "while True: pass", "--timeout", "1").out
    assert text.startswith("timeout (1.")
    assert "None" not in text


def test_the_text_tells_all_that_the_result_holds(tmp_path: Path) -> None:
    ran = _run(tmp_path, f"import sys\nprint('watch this', file=sys.stderr)\n{WRITES_A_STATE}")
    first, second, last = ran.out.splitlines()
    assert re.fullmatch(r"ok \(exit code 0, \d+\.\d\d s, sandbox (namespaces|landlock)\)", first)
    python = ".".join(map(str, sys.version_info[:3]))
    assert re.match(rf"\d+\.\d\d s of CPU; \d+ MB at most; python {python}, matplotlib \d", second)
    assert last == "watch this"


@pytest.mark.parametrize(
    ("source", "told", "name"),
    [("import os\nos.abort()", 6, "SIGABRT"), ("import os\nos.kill(os.getpid(), 40)", 40, "")],
)
def test_a_signal_is_told_by_number_and_name(tmp_path: Path, source: str, told: int, name: str) -> None:
    assert _run(tmp_path, source, "--json").json["signal"] == told
    ran = _run(tmp_path, source)
    assert ran.out.startswith(f"crash (signal {told}, {name}".rstrip(", "))
    assert "exit code" not in ran.out


def test_a_state_of_more_than_two_megabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    """Nothing of it is parsed: it is no JSON."""
    ran = _run(tmp_path, "import sys\nopen(sys.argv[1], 'w').write('x' * (2 * 1024 * 1024 + 1))", "--json")
    assert (ran.code, ran.json["status"]) == (0, "invalid_output")
    assert ran.json["message"] == "output.json is too large: 2097153 bytes, 2097152 at most"
    assert not (tmp_path / "out.json").exists()


@pytest.mark.slow
def test_a_chart_and_what_it_draws(tmp_path: Path) -> None:
    source = "import sys\nimport matplotlib.pyplot as plt\nplt.bar(['x', 'y'], [3, 4.5])\nplt.savefig(sys.argv[1])\n"
    ran = _run(tmp_path, source, "--json", stage=2)
    assert (ran.code, ran.json["status"]) == (0, "ok")
    width, height = struct.unpack(">II", (tmp_path / "out.png").read_bytes()[16:24])
    assert (width, height) == (640, 480)
    assert ran.json["drawn"] == str(tmp_path / "out.drawn.json")
    drawn = json.loads(Path(ran.json["drawn"]).read_text(encoding="utf-8"))
    (mark,) = drawn["figures"][0]["axes"][0]["marks"]
    assert (mark["type"], mark["categories"], mark["values"]) == ("bars", ["x", "y"], [3, 4.5])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeout", "0"], "0.0 is not in the range 0<x<=86400.0"),
        (["--timeout", "nan"], "nan is no number of seconds"),
        (["--timeout", "soon"], "'soon' is not a valid float"),
        (["--sandbox", "none"], "'none' is not one of 'auto', 'namespaces', 'landlock', 'container', 'trusted'"),
        (["--backend", "r"], "'r' is not one of 'python', 'html'"),
    ],
)
def test_an_option_that_cannot_be(tmp_path: Path, options: list[str], words: str) -> None:
    ran = _run(tmp_path, WRITES_A_STATE, *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.complaint


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "gone.py", "No such file or directory"), (tmp_path, "Is a directory")):
        ran = deepchart("run-program", path, "--stage", "1", "--out", tmp_path / "o.json", "--json")
        assert ran.code == 2
        assert ran.complaint == f"cannot read {path}: {words}. Give the path of a Python or HTML program."


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(WRITES_A_STATE, encoding="utf-8")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    out = tmp_path / "file/out.json"
    ran = deepchart("run-program", program, "--stage", "1", "--out", out, "--json")
    assert ran.code == 3
    assert str(tmp_path / "file") in ran.complaint
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"

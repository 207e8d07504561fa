"""Programs that behave, or fail in ordinary ways, in each tier."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from execution_container import eventually, is_running

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.errors import ConfigurationError, InfrastructureError, SandboxUnavailable
from deepchart_dagster.execution import doctor
from deepchart_dagster.execution.model import Limits, Program, RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox import runtime as runtime_module
from deepchart_dagster.execution.sandbox import tiers
from deepchart_dagster.execution.sandbox.keeper.request import Report
from deepchart_dagster.settings import Settings

pytestmark = pytest.mark.slow

Run = Callable[..., RunResult]


def test_stage_1_leaves_its_json_as_written(run: Run, tier_runner: LocalRunner) -> None:
    result = run("import json, sys\njson.dump({'src_data': [1.5], 'der_data': {'é': 2}}, open(sys.argv[1], 'w'))")
    assert result.status is RunStatus.OK
    assert result.output == json.dumps({"src_data": [1.5], "der_data": {"é": 2}}).encode()
    assert (result.exit_code, result.signal) == (0, None)
    assert result.tier == tier_runner.tier
    assert 0 < result.wall_s < 60
    assert result.cpu_s is not None
    assert 0 < result.cpu_s < 10
    assert result.max_rss_mb is not None
    assert result.max_rss_mb > 5
    assert result.versions["python"] == sys.version.split()[0]
    assert {"matplotlib", "pandas"} <= result.versions.keys()


WHAT_IT_SEES = """
import json, os, sys
class Seen: pass
json.dump({
    "name": __name__, "file": os.path.basename(__file__), "argv": sys.argv,
    "first_path_is_cwd": sys.path[0] == os.getcwd(),
    "main": sys.modules["__main__"].Seen is Seen, "flags": list(sys.flags)[:13], "files": sorted(os.listdir()),
    "loader": type(__loader__).__name__, "spec": __spec__, "modules": sorted(sys.modules),
    "meta_path": len(sys.meta_path),
}, open(sys.argv[1], "w"))
"""


def test_a_program_sees_what_a_fresh_interpreter_shows(answer: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "this.py").write_text(WHAT_IT_SEES)
    subprocess.run([sys.executable, "this.py", "output.json"], cwd=tmp_path, check=True, env={"LANG": "C.UTF-8"})
    fresh = json.loads((tmp_path / "output.json").read_text())
    seen = answer(WHAT_IT_SEES)
    # The hook's finder waits for matplotlib; sitecustomize is what installed it.
    assert seen.pop("meta_path") == fresh.pop("meta_path") + 1
    assert set(seen.pop("modules")) - set(fresh.pop("modules")) <= {"sitecustomize"}
    assert seen == fresh


def test_a_crash_tells_its_code_and_its_last_words(run: Run) -> None:
    result = run("import sys\nprint('before')\nraise KeyError('revenue_2021')")
    assert result.status is RunStatus.CRASH
    assert result.exit_code == 1
    assert result.output is None
    assert result.stdout_tail == "before\n"
    assert result.stderr_tail.splitlines()[-1] == "KeyError: 'revenue_2021'"
    assert "this.py" in result.stderr_tail.splitlines()[1]
    assert "line 3" in result.stderr_tail.splitlines()[1]
    assert "revenue_2021" in result.message


@pytest.mark.parametrize(("source", "code"), [("import sys; sys.exit(7)", 7), ("import os; os._exit(3)", 3)])
def test_an_exit_code_other_than_0_is_a_crash(run: Run, source: str, code: int) -> None:
    result = run("import sys\nopen(sys.argv[1], 'w').write('{}')\n" + source)
    assert (result.status, result.exit_code) == (RunStatus.CRASH, code)
    assert result.output is None


def test_a_death_by_signal_is_a_crash_that_names_it(run: Run) -> None:
    result = run("import os\nos.abort()")
    assert (result.status, result.exit_code, result.signal) == (RunStatus.CRASH, None, signal.SIGABRT)


def test_a_syntax_error_is_a_crash(run: Run) -> None:
    result = run("def f(:\n")
    assert result.status is RunStatus.CRASH
    assert "SyntaxError" in result.stderr_tail


def test_a_program_that_writes_nothing_has_no_output(run: Run) -> None:
    result = run("print('done')")
    assert (result.status, result.exit_code) == (RunStatus.NO_OUTPUT, 0)
    assert "output.json" in result.message


def test_an_empty_file_is_no_output(run: Run) -> None:
    assert run("import sys\nopen(sys.argv[1], 'w')").status is RunStatus.NO_OUTPUT


def test_the_clock_ends_a_program(run: Run) -> None:
    start = time.monotonic()
    result = run("import time\nprint('started', flush=True)\ntime.sleep(100)", wall_s=1.0)
    assert result.status is RunStatus.TIMEOUT
    assert (result.exit_code, result.signal) == (None, None)
    assert 1.0 <= result.wall_s < 10
    assert time.monotonic() - start < 20
    assert "1 s" in result.message


_BUSY_TREE = """
import os, time
held = bytearray(80 << 20)
held[::4096] = b"x" * len(held[::4096])
if os.fork() == 0:
    if os.fork() == 0:
        stop = time.process_time() + 60
        while time.process_time() < stop: pass
    time.sleep(100)
while True: pass
"""


def test_what_a_program_used_until_it_was_ended_is_told(run: Run) -> None:
    """Its own loop and its grandchild's; nobody reaps either of them."""
    result = run(_BUSY_TREE, wall_s=6.0)
    assert result.status is RunStatus.TIMEOUT
    assert result.cpu_s is not None
    assert 0.5 < result.cpu_s <= (os.cpu_count() or 1) * result.wall_s + 1, "a busy machine gives less than it could"
    assert result.max_rss_mb is not None
    assert result.max_rss_mb > 80


def test_what_an_earlier_program_left_does_not_count(run: Run) -> None:
    writer = "import sys, os\nfor place in (sys.argv[1], '/tmp/output.json', os.environ['TMPDIR'] + '/output.json'):\n"
    writer += "    try: open(place, 'w').write('{\"old\": 1}')\n    except OSError: pass\n"
    assert run(writer).status is RunStatus.OK
    assert run("pass").status is RunStatus.NO_OUTPUT
    looker = "import os, sys, json\nseen = [os.listdir(), os.listdir(os.environ['TMPDIR'])]\n"
    looker += "json.dump(seen, open(sys.argv[1], 'w'))"
    result = run(looker)
    assert result.output is not None
    assert json.loads(result.output) == [["this.py"], []]


def test_useful_things_work(answer: Callable[..., Any]) -> None:
    source = """
import asyncio, concurrent.futures, json, os, shutil, subprocess, sys, tempfile
async def three(): return 3
open("a.txt", "w").write("x"); shutil.copy("a.txt", "b.txt"); shutil.copytree(".", tempfile.mkdtemp() + "/c")
with concurrent.futures.ThreadPoolExecutor(4) as pool: squares = list(pool.map(lambda n: n * n, range(4)))
said = subprocess.run([sys.executable, "-c", "print(6*7)"], capture_output=True, text=True).stdout
import numpy, pandas, scipy.stats
json.dump({"squares": squares, "said": said, "await": asyncio.run(three()),
           "mean": float(pandas.Series([1, 2, 6]).mean()), "cdf": float(scipy.stats.norm.cdf(0))},
          open(sys.argv[1], "w"))
"""
    assert answer(source) == {
        "squares": [0, 1, 4, 9],
        "said": "42\n",
        "await": 3,
        "mean": 3.0,
        "cdf": 0.5,
    }


def test_a_pool_of_processes_works_where_there_is_shared_memory(run: Run, tier_runner: LocalRunner) -> None:
    source = """
import concurrent.futures, json, sys
with concurrent.futures.ProcessPoolExecutor(2) as pool: json.dump(list(pool.map(abs, [-1, -2])), open(sys.argv[1], "w"))
"""
    result = run(source)
    if tier_runner.tier == "landlock":  # /dev/shm of the host is everybody's, so Landlock closes it
        assert result.status is RunStatus.CRASH
        assert "PermissionError" in result.stderr_tail
    else:
        assert result.output == b"[1, 2]"


def test_the_tail_of_a_long_stderr_is_kept(run: Run) -> None:
    result = run("import sys\nfor n in range(200_000): print(n, file=sys.stderr)\nsys.exit(1)")
    assert result.status is RunStatus.CRASH
    assert result.stderr_tail.endswith("199998\n199999\n")
    assert len(result.stderr_tail) < 10_000
    assert "bytes before" in result.stderr_tail.splitlines()[0]


def test_fonts_are_not_searched_for_again(run: Run) -> None:
    source = """
import json, os, sys, time
import matplotlib.font_manager as manager
json.dump({"scanned": manager.json_dump.__name__, "files": sorted(os.listdir(os.environ["MPLCONFIGDIR"])),
           "fonts": len(manager.fontManager.ttflist)}, open(sys.argv[1], "w"))
"""
    result = run(source)
    assert result.output is not None
    seen = json.loads(result.output)
    assert len(seen["files"]) == 1
    assert seen["files"][0].startswith("fontlist-")
    assert seen["fonts"] > 30
    assert result.stderr_tail == ""


def test_programs_run_side_by_side(tier_runner: LocalRunner) -> None:
    def run_one(number: int) -> None:
        source = f"import sys, time\ntime.sleep(0.2)\nopen(sys.argv[1], 'w').write('{number}')"
        results[number] = tier_runner.run(Program(source, 1, CodeType.PYTHON, Limits(wall_s=60)))

    results: dict[int, RunResult] = {}
    threads = [threading.Thread(target=run_one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: result.output for number, result in results.items()} == {n: str(n).encode() for n in range(6)}


def test_closing_the_runner_ends_what_runs() -> None:
    errors: list[Exception] = []

    def sleep() -> None:
        try:
            runner.run(Program("import time\ntime.sleep(50)", 1, CodeType.PYTHON, Limits(wall_s=60)))
        except InfrastructureError as error:
            errors.append(error)

    runner = LocalRunner()
    base = runner._prepare_python()[0].base
    thread = threading.Thread(target=sleep)
    thread.start()
    time.sleep(1.0)
    start = time.monotonic()
    runner.close()
    thread.join(20)
    assert not thread.is_alive()
    assert time.monotonic() - start < 20
    assert len(errors) == 1
    assert not base.exists()
    with pytest.raises(InfrastructureError, match="closed"):
        runner.run(Program("pass", 1, CodeType.PYTHON, Limits(wall_s=5)))


def test_the_programs_die_with_the_one_who_asked(project_root: Path, tmp_path: Path) -> None:
    marker = "86399.25"
    driver = f"""
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.execution.model import Limits, Program
from deepchart_dagster.execution.runner import LocalRunner
source = "import os\\nos.execv('/usr/bin/sleep', ['sleep', '{marker}'])"
LocalRunner().run(Program(source, 1, CodeType.PYTHON, Limits(wall_s=60)))
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", driver]
    with subprocess.Popen(command, cwd=project_root, stdin=subprocess.DEVNULL, env=environment) as asker:
        assert eventually(lambda: is_running(marker), within_s=30)
        asker.kill()
    assert eventually(lambda: not is_running(marker), within_s=30)


def test_a_runner_that_nobody_closes_leaves_no_folder(project_root: Path, tmp_path: Path) -> None:
    driver = "from deepchart_dagster.execution.runner import LocalRunner; print(LocalRunner().tier)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", driver], cwd=project_root, check=True, env=environment)
    assert list(tmp_path.iterdir()) == []


def test_trusted_runs_without_walls_and_says_so(project_root: Path) -> None:
    source = (
        f"import sys\nopen(sys.argv[1], 'w').write(str(len(open({str(project_root / 'pyproject.toml')!r}).read())))"
    )
    with LocalRunner("trusted") as runner:
        result = runner.run(Program(source, 1, CodeType.PYTHON, Limits(wall_s=30)))
    assert result.tier == "trusted"
    assert result.output == str(len((project_root / "pyproject.toml").read_text())).encode()


def test_auto_takes_the_best_tier_that_works_and_never_trusted() -> None:
    def probe(tier: str) -> Report:
        return working if tier in works else Report(ended="setup_failed", error="unshare: Operation not permitted")

    working = Report(ended="exit", wait_status=0, output_state="ok")
    works = {"namespaces", "landlock", "trusted"}
    assert tiers.choose("auto", probe) == "namespaces"
    works = {"landlock", "trusted"}
    assert tiers.choose("auto", probe) == "landlock"
    works = {"trusted"}
    with pytest.raises(SandboxUnavailable, match=r"namespaces: unshare: Operation not permitted; landlock: .*trusted"):
        tiers.choose("auto", probe)
    with pytest.raises(SandboxUnavailable):
        tiers.choose("landlock", probe)
    assert tiers.choose("trusted", probe) == "trusted"


def test_a_tier_whose_keeper_dies_is_no_tier() -> None:
    def probe(tier: str) -> Report:
        if tier == "namespaces":
            raise InfrastructureError("The process that holds generated programs died: killed.", remedy="Again.")
        return Report(ended="exit", wait_status=0, output_state="ok")

    state = tiers.examine("namespaces", probe)
    assert (state.available, state.reason) == (False, "The process that holds generated programs died: killed")
    assert tiers.choose("auto", probe) == "landlock"


def test_landlock_below_abi_4_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepchart_dagster.execution.sandbox.keeper.landlock.abi", lambda: 3)
    state = tiers.examine("landlock", lambda _: Report(ended="exit", wait_status=0, output_state="ok"))
    assert not state.available
    assert "ABI 4" in state.reason


def test_an_unknown_tier_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'jail'"):
        LocalRunner("jail")


def test_the_doctor_knows_the_tiers() -> None:
    states = {state.name: state for state in doctor.available_tiers(Settings())}
    assert list(states) == ["namespaces", "landlock", "container", "trusted"]
    assert states["trusted"].available
    assert all(state.available or state.reason for state in states.values())


def test_an_interpreter_below_tmp_is_found_in_the_sandbox(tmp_path: Path, project_root: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(tmp_path / "v")], check=True
    )
    driver = """
import sys, json
from deepchart_dagster.execution.sandbox.process import Keepers
from deepchart_dagster.execution.sandbox.runtime import Runtime
from deepchart_dagster.execution import runner
from deepchart_dagster.execution.model import Limits, Program
from deepchart_dagster.benchmark.model import CodeType
runtime = Runtime.prepare()
program = Program("import sys; open(sys.argv[1], 'w').write(repr(sys.prefix))", 1, CodeType.PYTHON, Limits(wall_s=30))
for tier in sys.argv[1:]:
    report = Keepers(runtime.code).run(runner._request(program, tier, runtime, None), program.source.encode())
    print(report.output.decode(), report.error, report.stderr_tail)
runtime.remove()
"""
    site_packages = next(path for path in sys.path if path.endswith("site-packages"))
    shown = subprocess.run(
        [str(tmp_path / "v" / "bin" / "python"), "-c", driver, "namespaces", "landlock"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{project_root}:{site_packages}"},
        check=True,
    )
    assert shown.stdout.split() == [repr(str(tmp_path / "v"))] * 2


def test_the_font_list_is_made_once_per_host(tmp_path: Path) -> None:
    made = []

    def make(source: str) -> bytes:
        made.append(source)
        return b'{"name": "fontlist-v1.json", "text": "{}"}'

    for _ in range(2):
        runtime = runtime_module.Runtime.prepare()
        assert runtime.font_list(tmp_path / "cache", make).read_text() == "{}"
        runtime.remove()
    assert len(made) == 1

"""Programs that mean harm, in each tier. Afterwards nothing runs on and the next program is undisturbed."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepchart_dagster.execution.model import RunResult, RunStatus
from deepchart_dagster.execution.runner import LocalRunner
from deepchart_dagster.execution.sandbox.keeper.processes import descendants

pytestmark = pytest.mark.slow

Run = Callable[..., RunResult]
CRASH, TIMEOUT, OK = RunStatus.CRASH, RunStatus.TIMEOUT, RunStatus.OK
NO_OUTPUT, INVALID = RunStatus.NO_OUTPUT, RunStatus.INVALID_OUTPUT

# Tries each thing and writes down what came of it.
TRY = """
import json, os, sys
results = {}
def attempt(name, action):
    try: results[name] = str(action())[:500]
    except BaseException as error: results[name] = "refused: " + type(error).__name__
def report(): json.dump(results, open(sys.argv[1], "w"))
"""


# What a container that waits consists of, and what starts one: the engine of the tests runs below this process.
CONTAINER = (b"containerd-shim", b"keeper.agent", b"\0runc\0", b"/proc/self/exe")


def running() -> set[int]:
    """Programs and their keepers; what keeps containers is left out."""
    return {pid for pid in descendants(os.getpid()) if not any(sign in command_of(pid) for sign in CONTAINER)}


def command_of(pid: int) -> bytes:
    try:
        return b"\0" + Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


@pytest.fixture(autouse=True)
def _nothing_survives(tier_runner: LocalRunner, waiting_servers: Callable[[], set[int]]) -> Iterator[None]:
    before = running()
    yield
    stop = time.monotonic() + 10
    while (left := running() - before - waiting_servers()) and time.monotonic() < stop:
        time.sleep(0.1)
    assert not left, [command_of(pid) for pid in left]
    scratch = tier_runner._prepare_python()[0].scratch
    assert [path for path in scratch.iterdir() if not path.name.startswith("server-")] == []
    assert list(scratch.glob("*/*")) == []


@pytest.fixture(autouse=True)
def _the_next_program_is_right(run: Run) -> Iterator[None]:
    yield
    result = run("import sys\nopen(sys.argv[1], 'w').write('[42]')")
    assert (result.status, result.output) == (OK, b"[42]")


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass""",
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import os\nos.closerange(0, 256)\nwhile True: pass",
        "import os\nos.execv('/usr/bin/sleep', ['sleep', '1000'])",
    ],
    ids=["loop", "ignores signals", "regex", "stops itself", "closes everything", "becomes another program"],
)
def test_what_does_not_end_is_ended(run: Run, source: str) -> None:
    result = run(source, wall_s=1.5)
    assert result.status is TIMEOUT
    assert result.wall_s < 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
        "import os\nfor n in range(1000): os.fork()",
    ],
    ids=["fork bomb", "thread bomb", "forks without catching"],
)
def test_bombs_stay_small(run: Run, source: str) -> None:
    before = len(running())
    most = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.2):
            most = max(most, len(running()) - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = run(source, wall_s=3.0, processes=16)
    finally:
        done.set()
        watcher.join()
    assert result.status in (TIMEOUT, CRASH)
    assert most <= 16 + 4  # keeper, guard, the namespace's first process


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    ["import numpy\nnumpy.ones(100 * 2**30 // 8)", "held = []\nwhile True: held.append(bytearray(1 << 22))"],
    ids=["at once", "bit by bit"],
)
def test_memory_is_bounded(run: Run, source: str) -> None:
    result = run(source, wall_s=30.0, memory_mb=1024)
    assert result.status is CRASH
    assert "MemoryError" in result.stderr_tail
    assert result.max_rss_mb is not None
    assert result.max_rss_mb < 1100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("f = open('big', 'wb')\nfor n in range(10_000): f.write(bytes(1 << 20))", {CRASH}),
        ("for n in range(200): open(f'f{n}', 'wb').write(bytes(5 << 20))", {CRASH}),
        ("for n in range(100_000): open(f'f{n}', 'w').close()", {CRASH}),
        ("import sys\nopen(sys.argv[1], 'wb').truncate(30 << 20)", {INVALID}),
        ("import sys\nopen(sys.argv[1], 'wb').truncate(100 << 30)", {CRASH, INVALID}),
    ],
    ids=["one file", "many files", "a hundred thousand files", "sparse output", "huge sparse output"],
)
def test_disk_is_bounded(run: Run, source: str, allowed: set[RunStatus]) -> None:
    assert run(source, wall_s=60.0, work_mb=64).status in allowed


def test_processes_together_have_no_more_memory_than_one(run: Run) -> None:
    source = """
import os, time
for n in range(8):
    if os.fork() == 0:
        held = b"x" * (90 << 20); time.sleep(60)
time.sleep(60)"""
    result = run(source, wall_s=40.0, memory_mb=256)
    assert result.status is CRASH
    assert result.wall_s < 30


def test_no_memory_is_had_that_belongs_to_nobody(run: Run) -> None:
    source = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
assert [libc.shmget(0, 1 << 20, 0o1600), libc.msgget(0, 0o1600)] == [-1, -1]
try: os.memfd_create("x")
except OSError: open(sys.argv[1], "w").write("{}")"""
    assert run(source).status is OK


@pytest.mark.parametrize("keep", ["open(name, 'rb')", "mmap.mmap(file.fileno(), 0)"], ids=["open", "mapped"])
def test_files_that_lie_nowhere_are_counted(run: Run, keep: str) -> None:
    source = f"""
import mmap, os, time
held = []
for n in range(12):
    name = f"big{{n}}"
    with open(name, "w+b") as file:
        file.write(bytes(10 << 20)); file.flush()
        held.append({keep}); os.unlink(name)
time.sleep(60)"""
    assert run(source, wall_s=40.0, work_mb=64).status is CRASH


def test_folders_deeper_than_a_path_are_removed(run: Run) -> None:
    source = """
import os, sys
for place in (os.environ["HOME"], os.environ["TMPDIR"]):
    os.chdir(place)
    for n in range(30):
        os.mkdir("d" * 200); os.chdir("d" * 200)
        open("file", "w").close()
os.chdir(os.environ["HOME"])
open(sys.argv[1], "w").write("{}")"""
    assert run(source).status in (OK, CRASH)


def test_a_program_sets_nothing_for_others(answer: Callable[..., Any]) -> None:
    source = f"""{TRY}
import resource
for pid in (1, os.getppid(), {os.getpid()}):
    attempt(f"limits {{pid}}", lambda: resource.prlimit(pid or 1, resource.RLIMIT_FSIZE, (1, 1)))
    attempt(f"processors {{pid}}", lambda: os.sched_setaffinity(pid or 1, {{0}}))
    attempt(f"priority {{pid}}", lambda: os.setpriority(os.PRIO_PROCESS, pid or 1, 19))
attempt("all of the user", lambda: os.setpriority(os.PRIO_USER, 0, 19))
assert all(outcome.startswith("refused") for outcome in results.values()), results
os.sched_setaffinity(0, os.sched_getaffinity(0)); os.setpriority(os.PRIO_PROCESS, 0, 1); os.nice(1)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
report()"""
    assert len(answer(source)) >= 7
    assert os.getpriority(os.PRIO_PROCESS, 0) < 19


def test_the_first_process_bears_all_signals_and_takes_care_of_orphans(run: Run) -> None:
    source = """
import os, resource, sys
if os.getpid() < 100:  # in a process namespace
    for number in range(1, 65):
        try: os.kill(1, number)
        except OSError: pass
    for kind in range(16):
        try: resource.prlimit(1, kind, (1, 1))
        except (OSError, ValueError): pass
for n in range(40):
    if (child := os.fork()) == 0:
        os.fork()
        os._exit(0)
    os.waitpid(child, 0)
open(sys.argv[1], "w").write("{}")"""
    assert run(source, processes=20).status is OK


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_of_text_is_a_crash(run: Run, stream: str) -> None:
    result = run(f"import sys\nfor n in range(1024): sys.{stream}.write('x' * (1 << 20))", wall_s=60.0)
    assert result.status is CRASH
    assert "16 MiB" in result.message
    assert len(result.stdout_tail) + len(result.stderr_tail) < 20_000


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("os.symlink('/etc/passwd', out)", {INVALID}),
        ("os.symlink('this.py', out)", {INVALID}),
        ("os.mkfifo(out)", {INVALID}),
        ("os.mkdir(out)", {INVALID}),
        ("open('other', 'w').write('{}'); os.link('other', out)", {INVALID}),
        ("os.link('/usr/bin/env', out)", {CRASH}),
        ("import socket; s = socket.socket(socket.AF_UNIX); s.bind(out)", {INVALID, CRASH}),
        ("open(out, 'w').write('[' * 100_000 + ']' * 100_000)", {INVALID}),
        ("open(out, 'w').write('{\"a\":' + '9' * 1_900_000 + '}')", {INVALID}),
        ("open(out, 'w').write('{\"a\": NaN}')", {INVALID}),
        ("open(out, 'w').write('{\"a\": 1e999}')", {INVALID}),
        ("open(out, 'w').write('[' + '1,' * 1_500_000 + '1]')", {INVALID}),
        ("open(out, 'w').write('{\"a\": 1')", {INVALID}),
        ("import shutil; shutil.rmtree('.', ignore_errors=True)", {NO_OUTPUT, CRASH}),
        ("os.rename(os.getcwd(), os.environ['TMPDIR'] + '/elsewhere')", {NO_OUTPUT, CRASH}),
        ("os.chmod('.', 0)", {NO_OUTPUT, CRASH}),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_odd_outputs_are_not_taken(run: Run, source: str, allowed: set[RunStatus]) -> None:
    start = time.monotonic()
    result = run(f"import os, sys\nout = sys.argv[1]\n{source}", wall_s=30.0)
    assert result.status in allowed, result.message
    assert result.output is None
    assert time.monotonic() - start < 20


def test_nothing_of_the_host_can_be_read(
    answer: Callable[..., Any], project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-7391"
    monkeypatch.setenv("DEEPCHART_CANARY_KEY", canary)
    secret = tmp_path / "home" / ".ssh" / "id_ed25519"
    secret.parent.mkdir(parents=True)
    secret.write_text(canary)
    secret.chmod(0o644)
    paths = [
        str(secret),
        str(project_root / "pyproject.toml"),
        str(project_root / "deepchart_dagster" / "settings.py"),
        "/etc/shadow",
        "/root/.profile",
        str(Path("~/.ssh").expanduser()),
        "/var/log",
        f"/proc/{os.getpid()}/environ",
        f"/proc/{os.getpid()}/root/etc/hostname",
        "/proc/1/environ",
        "/sys/class/net",
    ]
    source = f"""{TRY}
for path in {paths!r} + ["/proc/%d/environ" % os.getppid()]:
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
attempt("environ", lambda: dict(os.environ))
attempt("own environ", lambda: open("/proc/self/environ").read())
report()"""
    seen = answer(source)
    assert canary not in json.dumps(seen)
    assert "DEEPCHART" not in seen["environ"]
    for path in paths:
        assert seen[path].startswith("refused") or seen[path] in ("", "[]"), (path, seen[path])


def test_the_network_is_not_there(answer: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        name = f"\0deepchart-test-{os.getpid()}"
        abstract.bind(name)
        abstract.listen()
        port = listener.getsockname()[1]
        source = f"""{TRY}
import socket
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
attempt("dns", lambda: socket.gethostbyname("example.com"))
attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect({name!r}))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("vsock", lambda: socket.socket(40, 1, 0))
attempt("netlink", lambda: socket.socket(16, 3, 0))
attempt("packet", lambda: socket.socket(17, 3, 0))
report()"""
        seen = answer(source)
        assert all(outcome.startswith("refused") for outcome in seen.values()), seen
        listener.settimeout(0.2)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_nothing_outside_can_be_changed(answer: Callable[..., Any], project_root: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    mine.chmod(0o666)
    tmp_path.chmod(0o777)
    source = f"""{TRY}
import matplotlib
for path in ["/usr/x", "/etc/passwd", matplotlib.__file__, {str(mine)!r}, {str(tmp_path / "new")!r},
             "/proc/sys/kernel/core_pattern",
             {str(project_root / "pyproject.toml")!r}, "/proc/sysrq-trigger", sys.executable, "/dev/null2"]:
    attempt(path, lambda: open(path, "a").write("x"))
attempt("unlink", lambda: os.unlink({str(mine)!r}))
attempt("rename", lambda: os.rename({str(mine)!r}, "here"))
attempt("truncate", lambda: os.truncate({str(mine)!r}, 0))
try: os.chmod({str(mine)!r}, 0); os.chmod(sys.executable, 0)
except OSError: pass
report()"""
    seen = answer(source)
    assert all(outcome.startswith("refused") for outcome in seen.values()), seen
    assert mine.read_text() == "mine"
    assert mine.stat().st_mode & 0o777 == 0o666
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


def test_privileges_cannot_be_had(answer: Callable[..., Any]) -> None:
    source = f"""{TRY}
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0: raise OSError(ctypes.get_errno(), name)
for flag in (0x10000000, 0x40000000, 0x20000): attempt("unshare %x" % flag, lambda: call("unshare", flag))
attempt("mount", lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, None))
attempt("umount", lambda: call("umount2", b"/proc", 2))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("setuid", lambda: os.setuid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("ptrace", lambda: call("ptrace", 16, os.getppid(), 0, 0))
attempt("mknod", lambda: os.mknod("disk", 0o60600, os.makedev(8, 0)))
attempt("processes", lambda: resource.setrlimit(resource.RLIMIT_NPROC, (99999, 99999)))
attempt("memory", lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)))
attempt("parent's memory", lambda: open("/proc/%d/mem" % os.getppid(), "rb"))
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
results["status"] = [status["CapEff"].strip(), status["NoNewPrivs"].strip(), status["Seccomp"].strip(), os.getuid()]
report()"""
    seen = answer(source)
    capabilities, no_new_privileges, seccomp, user = seen.pop("status")
    # Landlock under root keeps the right to pass through /root to the interpreter, nothing else.
    assert int(capabilities, 16) in (0, 1 << 2)
    assert (no_new_privileges, seccomp) == ("1", "2")
    assert user != 0
    assert all(outcome.startswith("refused") for outcome in seen.values()), seen


def test_a_program_cannot_end_others(run: Run) -> None:
    source = f"""
import os, signal, sys
for pid in ({os.getpid()}, os.getppid(), -1):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
open(sys.argv[1], "w").write("{{}}")"""
    assert run(source).status in (OK, CRASH)


def test_a_daemon_does_not_outlive_its_program(run: Run) -> None:
    source = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(1000)
    os._exit(0)
open(sys.argv[1], "w").write("{}")"""
    start = time.monotonic()
    assert run(source).status is OK
    assert time.monotonic() - start < 15


def test_a_child_that_holds_the_output_open_changes_nothing_later(run: Run) -> None:
    source = """
import os, sys, time
out = open(sys.argv[1], "w")
out.write("[1]"); out.flush()
if os.fork() == 0:
    while True: out.seek(0); out.write("[2]"); out.flush()
time.sleep(0.1)
os._exit(0)"""
    result = run(source)
    assert result.status in (OK, INVALID)
    assert result.output in (b"[1]", b"[2]", None)


def test_patching_the_way_out_does_not_help(run: Run) -> None:
    source = """
import atexit, gc, os, sys, threading
os._exit = atexit._run_exitfuncs = threading._shutdown = gc.collect = lambda *args: 1 / 0
sys.meta_path.clear()
open(sys.argv[1], "w").write("{}")"""
    assert run(source).status in (OK, CRASH)


@pytest.mark.slow
def test_a_giant_figure_is_bounded(run: Run) -> None:
    source = (
        "import sys\nimport matplotlib.pyplot as plt\nplt.figure(figsize=(600, 600), dpi=100)\nplt.savefig(sys.argv[1])"
    )
    assert run(source, 2, wall_s=40.0, memory_mb=3000).status in (CRASH, TIMEOUT, INVALID)

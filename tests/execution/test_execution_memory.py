"""What a fork server does with its memory before it forks: each in an interpreter of its own, which it changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.execution.sandbox import keeper
from deepchart_dagster.execution.sandbox.keeper import linux
from deepchart_dagster.execution.sandbox.keeper.interpreter import may_choose_its_exit_code

SANDBOX = Path(keeper.__file__).parents[1]


def seen_by(source: str) -> Any:
    """What ``source`` leaves in ``seen``, run with the keeper's modules at hand."""
    whole = f"import json, sys\nsys.path.insert(0, {str(SANDBOX)!r})\nseen = {{}}\n{source}\nprint(json.dumps(seen))"
    run = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_code_that_is_called_is_laid_together_and_does_what_it_did() -> None:
    seen = seen_by("""
from keeper import warmup
functions = []
for number in range(300):
    scope = {}
    text = f"def double(x):\\n    '''{'a' * 900}'''\\n    return [y * 2 for y in x] + [{number}]"
    exec(text, scope)
    functions.append(scope["double"])
old = [function.__code__ for function in functions]
called = functions[::10]
codes = warmup._called_by(lambda: [function([1, 2]) for function in called])
kept = warmup._lay_together(codes)
new = [function.__code__ for function in functions]
places = sorted(id(code) for code in new[::10])
seen["equal"] = old == new
seen["moved"] = [number for number in range(300) if old[number] is not new[number]]
seen["kept"] = all(any(code is one for one in kept) for code in old[::10])
seen["names"] = {function.__qualname__ for function in functions} == {"double"} == {c.co_qualname for c in new}
seen["inner moved"] = all(a.co_consts[1] is not b.co_consts[1] for a, b in zip(old[::10], new[::10]))
seen["results"] = [function([1, 2]) for function in functions] == [[2, 4, number] for number in range(300)]
seen["span"] = places[-1] - places[0]
seen["span before"] = max(map(id, old[::10])) - min(map(id, old[::10]))
seen["profile"] = sys.getprofile() is None
""")
    assert seen["moved"] == list(range(0, 300, 10))
    assert all(seen[name] for name in ("equal", "kept", "names", "inner moved", "results", "profile")), seen
    assert seen["span"] < 30 * 1024 < seen["span before"], seen


def test_objects_come_to_lie_together_where_holes_are_filled() -> None:
    seen = seen_by("""
import gc
from keeper import arenas
def span(size):
    made = [bytes(size - 33) for _ in range(60)]
    return max(map(id, made)) - min(map(id, made))
many = [bytes(size - 33) for size in (64, 96, 800) for _ in range(20_000)]
del many[::300]
gc.collect()
seen["before"] = [span(size) for size in (64, 96, 800)]
kept = arenas.fill_holes()
seen["after"] = [span(size) for size in (64, 96, 800)]
seen["bytes"] = sum(map(sys.getsizeof, kept))
""")
    assert max(seen["before"]) > 1 << 20, seen
    assert max(seen["after"][:2]) < 1 << 14, seen  # one pool
    assert seen["after"][2] < 60 * 800 + (1 << 15), seen
    assert 0 < seen["bytes"] < 1 << 20


def test_libraries_take_fewer_mappings_and_none_is_writable_and_executable() -> None:
    seen = seen_by("""
from keeper import linux
import numpy, decimal, sqlite3
before = linux.mappings()
linux.join_mappings()
after = linux.mappings()
libraries = [sum(".so" in one.file for one in each) for each in (before, after)]
seen["libraries"] = libraries
seen["extent"] = [sum(one.end - one.start for one in each if ".so" in one.file) for each in (before, after)]
seen["rights"] = sorted({one.access for one in after if ".so" in one.file})
seen["works"] = [numpy.linalg.solve([[2, 0], [0, 4]], [2, 4]).tolist(), str(decimal.Decimal(1) / 3)]
seen["works"] += sqlite3.connect(":memory:").execute("select 1+1").fetchone()
""")
    assert seen["libraries"][1] < 0.6 * seen["libraries"][0]
    assert seen["extent"][0] == seen["extent"][1]
    assert "rwxp" not in seen["rights"]
    assert seen["works"] == [[1.0, 1.0], "0.3333333333333333333333333333", 2]


def test_what_is_done_before_programs_cannot_be_seen_by_them() -> None:
    seen = seen_by("""
import csv, random, warnings
import numpy, pandas
from keeper.warmup import warm_up
def state():
    drawn = numpy.random.get_state()[1].tolist(), random.getstate()
    return sorted(sys.modules), sorted(vars(pandas.core.methods)), drawn, list(warnings.filters), numpy.geterr()
before = state()
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    kept = warm_up()
seen["warnings"] = [str(one.message) for one in given]
seen["as before"] = state() == before
""")
    assert seen == {"warnings": [], "as before": True}


def test_single_pages_that_programs_write_to_are_copied_at_once() -> None:
    seen = seen_by("""
import mmap, os, resource
from keeper import linux, pages
held = mmap.mmap(-1, 400 * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.write(bytes(400 * 4096))
def faults_of_writing():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for page in range(0, 400, 2):
        held[page * 4096] = 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def in_fork(action):
    told, tell = os.pipe()
    if os.fork() == 0:
        os.write(tell, action())
        os._exit(0)
    os.close(tell)
    os.wait()
    with open(told, "rb") as answer:
        return answer.read()
written = in_fork(lambda: (faults_of_writing(), pages.written(pages.writable()))[1])
count = lambda: str(faults_of_writing()).encode()
seen["apart"] = int(in_fork(count))
pages.copy_after_fork(pages.Pages(written))
seen["together"], seen["can"] = int(in_fork(count)), linux.populate(None, 0)
""")
    assert seen["apart"] >= 200
    if not seen["can"]:
        pytest.skip("this kernel copies no pages at a process's own request (Linux 6.14)")
    assert seen["together"] < 20


COPY = """
import ctypes, mmap, os, resource
from keeper import linux, pages
LARGE, PAGE = linux.LARGE_PAGE, 4096
memory = mmap.mmap(-1, 4 * LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
first = -(-ctypes.addressof(ctypes.c_char.from_buffer(memory)) // LARGE) * LARGE
ctypes.memset(first, 7, 3 * LARGE)
linux.collapse(first, 3 * LARGE)
few, many = [number * 16 for number in range(8)], [512 + number * 4 for number in range(120)]
written = [first + number * PAGE for number in few + many]
ours, theirs = os.pipe()
def in_a_fork(run):
    if os.fork() == 0:
        try:
            os.write(theirs, json.dumps(run()).encode())
        finally:
            os._exit(0)
    os.wait()
    return json.loads(os.read(ours, 1 << 16))
def write():
    for place in written:
        ctypes.memset(place, 8, 1)
def see_what_was_written():
    write()
    runs = [pages._RUN.unpack_from(found) for found in chunks(pages.written(pages.writable()), 16)]
    inside = [(start, length) for start, length in runs if first <= start < first + 3 * LARGE]
    places = [place for start, length in inside for place in range(start, start + length, PAGE)]
    return [(place - first) // PAGE for place in places]
def chunks(packed, size):
    return [packed[place : place + size] for place in range(0, len(packed), size)]
found = in_a_fork(see_what_was_written)
seen["found"] = found == few + many
common = pages.Pages(b"".join(pages._RUN.pack(place, PAGE) for place in written))
def copy_and_write():
    common.copy()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    write()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return [faults, ctypes.string_at(first, 3 * LARGE).count(b"\\7"), large_kib()]
def large_kib():
    lines = open("/proc/self/smaps").read().splitlines()
    at = next(n for n, line in enumerate(lines) if line.split("-")[0].isalnum() and "-" in line.split()[0]
              and int(line.split("-")[0], 16) <= first < int(line.split("-")[1].split()[0], 16))
    return next(int(line.split()[1]) for line in lines[at:] if line.startswith("AnonHugePages"))
seen["faults"], seen["kept"], seen["large"] = in_a_fork(copy_and_write)
def only_write():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    write()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
seen["faults without"] = in_a_fork(only_write)
seen["ours"] = ctypes.string_at(first, 3 * LARGE).count(b"\\7") == 3 * LARGE
seen["all"] = 3 * LARGE - len(written)
seen["runs"] = len(common._runs)
"""


def test_a_fork_has_the_pages_that_forks_write_to_copied_at_once() -> None:
    seen = seen_by(COPY)
    assert seen["found"]
    assert seen["kept"] == seen["all"]
    assert seen["ours"]
    assert seen["runs"] == 8  # what is in the large one that has many is not copied one by one
    assert seen["faults without"] >= 128
    if not seen["large"]:
        pytest.skip("this kernel makes no large pages")
    assert seen["large"] == 2 * linux.LARGE_PAGE >> 10  # the one with many, and the one that nobody wrote to
    assert seen["faults"] < 64, seen  # those of the interpreter itself


@pytest.mark.parametrize(
    ("ending", "status"),
    [("raise SystemExit(3)", 3 << 8), ("import os; os.kill(os.getpid(), 9)", signal.SIGKILL)],
)
def test_the_end_of_a_process_is_read_as_the_kernel_tells_it(ending: str, status: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", f"sum(range(10 ** 6)); x = bytes(40 << 20); {ending}"])
    ended = linux.read_ended(linux.reap(child.pid))
    child.returncode = os.waitstatus_to_exitcode(ended.wait_status)  # so that nobody waits for it again
    assert ended.wait_status == status
    assert 0.01 < ended.cpu_s < 10
    assert ended.max_rss_kib > 40 << 10  # at least: what it was forked from counts as well
    with pytest.raises(OSError, match="wait4: No child processes"):
        linux.reap(child.pid)


MAY = re.compile(
    rb"(?i)exit|quit|argparse|optparse|unittest|getattr|importlib|import_module|builtin|ctypes|pickle|marshal|runpy"
    rb"|#.*coding[:=]\s*(?!utf-?8)|__(?!name__|main__|file__|init__|future__)"
    rb"|\b(click|fire|exec|eval|globals|vars|locals|code|pdb)\b|(?<!\bre\.)\bcompile\b"
)
PIECES = (
    *(
        b"exit",
        b"SystemExit",
        b"quit",
        b"re.compile",
        b"are.compile",
        b"compile",
        b"recompile",
        b"__name__",
        b"__doc__",
    ),
    *(b"# coding: latin-1", b"#coding=UTF-8", b"# coding", b"code", b"codes", b"exec", b"Eval", b"vars", b"import re"),
    *(b" ", b"\n", b".", b"_", b"(", b"#", "ä".encode(), b"\xff"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join))
def test_ways_to_an_exit_code_are_found_as_one_long_expression_finds_them(source: bytes) -> None:
    assert may_choose_its_exit_code(source) == bool(MAY.search(source))

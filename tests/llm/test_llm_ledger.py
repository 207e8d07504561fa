"""Rows survive concurrent writers and torn lines."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from deepchart_dagster.errors import StorageError
from deepchart_dagster.llm.ledger import Ledger, LedgerRow, ledger_folder, read_ledger


def row(number: int = 0, **changes) -> LedgerRow:
    fields = {
        "time": "2026-11-30T10:00:00.000+00:00",
        "model": "m",
        "litellm_model": "openai/m",
        "purpose": "judge",
        "key": f"k1-{number}",
        "attempt": 1,
        "status": "ok",
        "seconds": 0.5,
    }
    return LedgerRow(**{**fields, **changes})


def test_what_is_written_is_read(tmp_path):
    ledger = Ledger(tmp_path)
    rows = [row(1, price_usd=0.25, input_tokens=3), row(2, status="error", error="RateLimited", message="slow — down")]
    for each in rows:
        ledger.append(each)
    assert list(read_ledger(tmp_path)) == rows


def test_an_empty_storage_has_no_rows(tmp_path):
    assert list(read_ledger(tmp_path)) == []


def test_a_day_has_its_own_file(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append(row(1, time="2026-11-30T23:59:59.999+00:00"))
    ledger.append(row(2, time="2026-12-01T00:00:00.000+00:00"))
    assert [path.name[:10] for path in sorted(ledger_folder(tmp_path).iterdir())] == ["2026-11-30", "2026-12-01"]
    assert [each.key for each in read_ledger(tmp_path)] == ["k1-1", "k1-2"]


def test_many_threads_lose_no_row(tmp_path):
    ledger = Ledger(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ledger.append(row(number, message="x" * 2000)), range(400)))
    assert sorted(each.key for each in read_ledger(tmp_path)) == sorted(f"k1-{number}" for number in range(400))


APPEND_IN_ANOTHER_PROCESS = """
import os, sys
from pathlib import Path
sys.path.insert(0, os.getcwd())
from deepchart_dagster.llm.ledger import Ledger, LedgerRow
ledger = Ledger(Path(sys.argv[1]))
child = os.fork()
for number in range(50):
    ledger.append(LedgerRow(time="2026-11-30T10:00:00+00:00", model="m", litellm_model="openai/m", purpose="judge",
        key=f"k1-{sys.argv[2]}-{child == 0}-{number}", attempt=1, status="ok", seconds=0.1))
if child:
    os.waitpid(child, 0)
"""


def test_processes_and_their_forks_have_files_of_their_own(tmp_path):
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND_IN_ANOTHER_PROCESS, str(tmp_path), str(number)])
        for number in range(2)
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert len({each.key for each in read_ledger(tmp_path)}) == 200
    assert len(list(ledger_folder(tmp_path).iterdir())) == 4


def test_a_torn_last_line_is_passed_over_in_silence(tmp_path, caplog):
    Ledger(tmp_path).append(row(1))
    (path,) = ledger_folder(tmp_path).iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert [each.key for each in read_ledger(tmp_path)] == ["k1-1"]
    assert caplog.messages == []


def test_any_other_bad_line_is_named_and_costs_only_itself(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    ledger = Ledger(tmp_path)
    ledger.append(row(1))
    (path,) = ledger_folder(tmp_path).iterdir()
    with path.open("ab") as stream:
        stream.write(b'{"time": 3}\n\xff\n')
    ledger.append(row(2))
    assert [each.key for each in read_ledger(tmp_path)] == ["k1-1", "k1-2"]
    assert [f"{path}, line 2:" in caplog.messages[0], f"{path}, line 3:" in caplog.messages[1]] == [True, True]


def test_a_ledger_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "llm").write_text("in the way")
    with pytest.raises(StorageError, match="llm"):
        Ledger(tmp_path).append(row())


def test_a_full_disk_leaves_no_half_row(tmp_path):
    """Half a row without its end would take the next one with it, and what that call cost."""
    ledger = Ledger(tmp_path)
    ledger.append(row(1))
    (path,) = ledger_folder(tmp_path).iterdir()
    unlimited, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, hard))
    try:
        with pytest.raises(StorageError, match="disk is full"):
            ledger.append(row(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, hard))
    ledger.append(row(3))
    assert list(read_ledger(tmp_path)) == [row(1), row(3)]

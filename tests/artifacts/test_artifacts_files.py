from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import (
    TEMPORARY_PREFIX,
    is_slug,
    name_from_segment,
    new_folder,
    path_segment,
    process_folder,
    remove_leftovers,
    temporary_name,
    write_bytes,
    write_json,
    write_json_lines,
)
from deepchart_dagster.errors import StorageError, UsageError

names = st.text(min_size=1, max_size=12).filter(str.isprintable)


@given(names)
def test_a_segment_is_one_path_component_and_reads_back(name: str) -> None:
    segment = path_segment(name)
    assert "/" not in segment
    assert segment not in ("", ".", "..")
    assert not segment.startswith((".", "_"))
    assert segment.isascii()
    assert name_from_segment(segment) == name


@given(names, names)
def test_two_names_never_share_a_segment(one: str, other: str) -> None:
    if one != other:
        assert path_segment(one) != path_segment(other)


def test_a_uid_keeps_its_looks() -> None:
    assert path_segment("academic/176") == "academic~176"
    assert path_segment("research_report/book__query-01") == "research_report~book__query-01"
    assert path_segment("../x") == "%2E.~x"


@pytest.mark.parametrize("name", ["", "x" * 201, "line\nbreak", "nul\0", "\ud800"])
def test_names_without_a_place_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        path_segment(name)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("gpt-5.2", True),
        ("a", True),
        ("openai/gpt", False),
        ("a|b", False),
        ("a,b", False),
        ("[a]", False),
        ("", False),
    ],
)
def test_slugs(text: str, allowed: bool) -> None:
    assert is_slug(text) is allowed


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "f.json"
    write_json(target, {"a": 1})

    def no_rename(self: Path, target: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", no_rename)
    with pytest.raises(KeyboardInterrupt):
        write_json(target, {"a": 2})
    assert target.read_text() == '{\n "a": 1\n}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["f.json"]


def test_what_is_no_file_is_not_renamed_away(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(StorageError, match="is no file"):
            write_bytes(place, b"x")
    assert pipe.is_fifo()


def test_a_new_folder_takes_the_place_of_the_old_one_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "result"
    with new_folder(target) as folder:
        (folder / "old").write_text("1")
    with new_folder(target) as folder:
        (folder / "new").write_text("2")
    assert [path.name for path in target.iterdir()] == ["new"]
    with pytest.raises(RuntimeError), new_folder(target) as folder:
        _write_half_and_fail(folder)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def _write_half_and_fail(folder: Path) -> None:
    (folder / "half").write_text("3")
    raise RuntimeError


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, os\n"
        "from deepchart_dagster.artifacts.files import new_folder\n"
        "with new_folder(pathlib.Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half').write_text('x')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    code = subprocess.run([sys.executable, "-c", program, str(tmp_path / "result")], check=False).returncode
    assert code == -9
    assert not (tmp_path / "result").exists()
    with new_folder(tmp_path / "other"):
        assert remove_leftovers(tmp_path) == 1, "what a living process works on stays"
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_folder_of_a_killed_process_is_removed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import os; from deepchart_dagster.artifacts.files import process_folder\n"
        "(process_folder('test') / 'half').write_text('x')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert [path.name.startswith("deepchart-test-") for path in tmp_path.iterdir()] == [True]
    (tmp_path / "deepchart-test-mine").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second = process_folder("test"), process_folder("test")
    assert set(tmp_path.iterdir()) == {first, second, tmp_path / "deepchart-test-mine"}
    assert first.stat().st_mode & 0o777 == 0o700


def test_a_leftover_that_is_a_link_does_not_lead_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    name = temporary_name().replace(f"-{os.getpid()}-", f"-{int(ended.stdout)}-")
    (tmp_path / name).symlink_to(elsewhere)
    (tmp_path / ".tmp-dangling").symlink_to(tmp_path / "nowhere")
    assert remove_leftovers(tmp_path) == 1
    assert (elsewhere / "kept").is_file()


def test_json_with_half_a_surrogate_pair_is_utf8_and_reads_back(tmp_path: Path) -> None:
    write_json(tmp_path / "one.json", {"\ud800": "\udfff"})
    write_json_lines(tmp_path / "rows.jsonl", [["\ud800"], ["é"]])
    assert json.loads((tmp_path / "one.json").read_text(encoding="utf-8")) == {"\ud800": "\udfff"}
    assert (tmp_path / "rows.jsonl").read_text(encoding="utf-8") == '["\\ud800"]\n["é"]\n'


def test_a_full_disk_is_one_line_with_file_and_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError) as caught:
        write_bytes(tmp_path / "f", b"x")
    assert str(tmp_path / "f") in str(caught.value)
    assert "No space left" in str(caught.value)
    assert "--storage" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_no_permission_is_one_line_with_file_and_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    program = (
        "import os, sys, pathlib\n"
        "from deepchart_dagster.artifacts.files import write_bytes\n"
        "from deepchart_dagster.errors import StorageError\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "try:\n"
        "    write_bytes(pathlib.Path(sys.argv[1]), b'x')\n"
        "except StorageError as error:\n"
        "    print(error)\n"
    )
    target = tmp_path / "f"
    output = subprocess.run(
        [sys.executable, "-c", program, str(target)], check=True, capture_output=True, text=True
    ).stdout
    assert "Permission denied" in output
    assert str(tmp_path) in output
    assert "write permission" in output


_CLOSED = """
import os, pathlib, sys
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.documents import DocumentStore
from deepchart_dagster.errors import DamagedFile
root = pathlib.Path(sys.argv[1])
for name, read in (
    ("a/u/result.json", lambda: ArtifactStore(root).read("a", (), "u")),
    ("documents/d/document.json", lambda: DocumentStore(root).list()),
):
    path = root / name
    path.parent.mkdir(parents=True)
    path.touch(mode=0)
    try: print(read())
    except DamagedFile as error: print(error)
"""


def test_a_file_that_this_user_may_not_read_is_not_to_be_deleted(tmp_path: Path) -> None:
    rights = "-dac_override,-dac_read_search"
    as_others = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_others, sys.executable, "-c", _CLOSED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    remedy = "Permission denied. Give this user read permission, or choose another folder with --storage."
    assert done.stdout.splitlines() == [
        f"cannot read {tmp_path}/a/u/result.json: {remedy}",
        f"cannot read {tmp_path}/documents/d/document.json: {remedy}",
    ]


def test_what_a_killed_process_left_of_an_entry_goes_when_the_entry_is_written(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys; from deepchart_dagster.artifacts import files\n"
        "from deepchart_dagster.artifacts.evidence import EvidenceStore\n"
        "os.fsync = lambda _: os.kill(os.getpid(), 9)\n"
        "EvidenceStore(pathlib.Path(sys.argv[1])).put('drawn', 'ab12', {})\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    folder = tmp_path / "evidence" / "drawn" / "ab"
    assert [path.name.startswith(TEMPORARY_PREFIX) for path in folder.iterdir()] == [True]
    EvidenceStore(tmp_path).put("drawn", "ab12", {})
    assert [path.name for path in folder.iterdir()] == ["ab12.json"]

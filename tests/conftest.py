"""What every test relies on: no setting and no key of the person who runs it reaches a test.

``scripts/test`` runs the tests in several processes. A file's tests run in one of them, and so do all files that
share something made once for the whole run (the demo's storage): nothing expensive is made twice. Everything that is
written lies in temporary folders of the test; ports are chosen by the system.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"

# A busy machine is no failure: what a property costs is no property.
hypothesis_settings.register_profile("project", deadline=None)
hypothesis_settings.load_profile("project")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Name each test's group for ``--dist loadgroup``; without processes the names mean nothing."""
    group: dict[str, str] = {}  # of a file
    holder: dict[str, str] = {}  # of what is made once: the first file that uses it
    for item in items:
        file = _file(item)
        group.setdefault(file, file)
        for made in _made_once(item):
            ours, theirs = group[file], group[holder.setdefault(made, file)]
            group = {name: theirs if named == ours else named for name, named in group.items()}
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group[_file(item)]))
    # First what takes minutes: the last of it would run while all other processes have nothing left to do.
    items.sort(key=lambda item: not _file(item).startswith("tests/e2e/"))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _made_once(item: pytest.Item) -> Iterator[str]:
    """Our fixtures of the whole run that write something, with the place of their conftest."""
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    for name, definitions in known.items():
        for definition in definitions:
            if definition.scope == "session" and definition.baseid and "tmp_path_factory" in definition.argnames:
                yield f"{definition.baseid}::{name}"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if (name.startswith(("DEEPCHART_", "DAGSTER_")) and name != "DEEPCHART_CHROMIUM") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared material beside the project ({SHARED.name}/ is absent)")
    return SHARED

"""Makes the helpers beside these tests importable, and gives each test a storage root of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Tests are imported by path (importlib mode): their helpers beside them need a place to be found.
sys.path.insert(0, str(Path(__file__).parent))

from contexts_room import Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "storage")

"""Makes the helpers beside these tests importable; a storage root and a copy of the published sample for each test."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

# Tests are imported by path (importlib mode): their helpers beside them need a place to be found.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture(scope="session")
def sample(shared: Path) -> Path:
    """The published sample, read only."""
    return shared / "upstream-sample"


@pytest.fixture
def damaged(sample: Path, tmp_path: Path) -> Path:
    """A copy of the published sample, for a test to damage."""
    return Path(shutil.copytree(sample, tmp_path / "clone"))

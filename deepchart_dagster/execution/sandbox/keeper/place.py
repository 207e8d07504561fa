"""The folders of one program, and what lies in them before it starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from .files import write_all

DRAWN_NAME = "drawn.json"
PROGRAM_NAME = "this.py"


class Place(NamedTuple):
    """The folders of one program, as it sees them."""

    work: str
    temporary: str
    config: str
    drawn: str
    inside: str

    def environment(self) -> dict[str, str]:
        """All a program's environment. The last two are gone by the time the program's first line runs."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.work,
            "TMPDIR": self.temporary,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": self.config,
            # One thread each: their stacks count against the memory limit, and other programs want the cores.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "DEEPCHART_DRAWN": self.drawn,
            "PYTHONPATH": self.inside,
        }


def furnish(place: Place, source: bytes, font_list: str | None) -> None:
    """Puts the program and matplotlib's font list where the program looks for them."""
    _write(f"{place.work}/{PROGRAM_NAME}", source)
    if font_list:
        furnish_fonts(place, font_list)


def furnish_fonts(place: Place, font_list: str) -> None:
    _write(f"{place.config}/{Path(font_list).name}", Path(font_list).read_bytes())


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    write_all(file, content)
    os.close(file)

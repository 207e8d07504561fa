"""The listener on savefig.

What counts is the figure that was saved to the program's output file. Where none was (saved into a buffer, pasted
together with PIL), it is every figure that was saved anywhere; where nothing was saved, the figures left open.
"""

import atexit
import contextlib
import functools
import json
import os
import sys
from pathlib import Path
from typing import Any

from . import figures, marks

_MAX_FIGURES = 8


class Recorder:
    def __init__(self, path: str) -> None:
        self._path = path
        self._output = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
        self._main: dict[str, Any] | None = None
        self._others: dict[int, dict[str, Any]] = {}

    def saved(self, figure: Any, target: Any) -> None:
        is_output = self._is_output(target)
        if not is_output and (self._main is not None or len(self._others) >= _MAX_FIGURES):
            return
        noted = figures.describe(figure)
        if is_output:
            self._main = noted
        else:
            self._others[id(figure)] = noted
        self._write()

    def _is_output(self, target: Any) -> bool:
        name = getattr(target, "name", None) if hasattr(target, "write") else target
        return isinstance(name, str | os.PathLike) and Path(name).resolve() == self._output

    def at_exit(self) -> None:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or self._main is not None or self._others:
            return
        for number in pyplot.get_fignums()[:_MAX_FIGURES]:
            self._others[number] = figures.describe(pyplot.figure(number))
        self._write()

    def _write(self) -> None:
        found = [self._main] if self._main is not None else list(self._others.values())
        document = {"format": "deepchart-drawn/1", "library": "matplotlib", "figures": found}
        text = json.dumps(document, allow_nan=False)
        new = Path(f"{self._path}.new")
        new.write_text(text)
        new.replace(self._path)


_recorder: Recorder | None = None


def begin(path: str) -> None:
    """From here on what is drawn is written to ``path``: called once per program, before its first line."""
    global _recorder
    _recorder = Recorder(path)


def install(figure_module: Any) -> None:
    """Wraps Figure.savefig, and what keeps nothing of its values: box plots, violins, Sankey diagrams."""
    from matplotlib.axes import Axes

    save = figure_module.Figure.savefig

    @functools.wraps(save)
    def savefig(self: Any, fname: Any, *arguments: Any, **options: Any) -> Any:
        result = save(self, fname, *arguments, **options)
        with contextlib.suppress(Exception):
            if _recorder is not None:
                _recorder.saved(self, fname)
        return result

    draw_boxes = Axes.bxp

    @functools.wraps(draw_boxes)
    def bxp(self: Any, bxpstats: Any, positions: Any = None, *arguments: Any, **options: Any) -> Any:
        artists = draw_boxes(self, bxpstats, positions, *arguments, **options)
        with contextlib.suppress(Exception):
            marks.note_boxes(self, bxpstats, positions, artists, options)
        return artists

    draw_violins = Axes.violin

    @functools.wraps(draw_violins)
    def violin(self: Any, vpstats: Any, positions: Any = None, *arguments: Any, **options: Any) -> Any:
        artists = draw_violins(self, vpstats, positions, *arguments, **options)
        with contextlib.suppress(Exception):
            marks.note_violins(self, vpstats, positions, artists, options)
        return artists

    add_patch = Axes.add_patch

    @functools.wraps(add_patch)
    def add_patch_and_note(self: Any, p: Any) -> Any:
        added = add_patch(self, p)
        with contextlib.suppress(Exception):
            caller = sys._getframe(1)
            if caller.f_globals.get("__name__") == "matplotlib.sankey":
                marks.note_flows(self, p, caller.f_locals)
        return added

    def at_exit() -> None:
        with contextlib.suppress(Exception):
            if _recorder is not None:
                _recorder.at_exit()

    figure_module.Figure.savefig = savefig
    Axes.bxp = bxp  # type: ignore[method-assign]
    Axes.violin = violin  # type: ignore[method-assign]
    Axes.add_patch = add_patch_and_note  # type: ignore[method-assign]
    atexit.register(at_exit)

"""Makes the fork of an interpreter look as one that has just started, and brings it to its end.

The end of an interpreter with large libraries takes longer than most programs: it takes every module apart. What of
it a program can notice (buffers, files left open, `__del__`, threads, callbacks) is done here; the rest is skipped.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from . import arenas, pages
from .warmup import warm_up

# An exit code is known to the interpreter alone: where the text of a program leaves a way to one open, the
# interpreter ends by itself. These are parts of words, then words, then what is a way in some places only.
_PARTS = (
    *(b"exit", b"quit", b"argparse", b"optparse", b"unittest", b"getattr", b"importlib", b"import_module"),
    *(b"builtin", b"ctypes", b"pickle", b"marshal", b"runpy"),
)
_WORDS = frozenset((b"click", b"fire", b"exec", b"eval", b"globals", b"vars", b"locals", b"code", b"pdb"))
_IN_SOME_PLACES = (
    (b"coding", re.compile(rb"#.*coding[:=]\s*(?!utf-?8)")),
    (b"__", re.compile(rb"__(?!name__|main__|file__|init__|future__)")),
    (b"compile", re.compile(rb"(?<!\bre\.)\bcompile\b")),
)
_WORD = re.compile(rb"\w+")
_FIRST_OWN_DESCRIPTOR = 3
_STATE_WORDS = 624  # of numpy's global generator
_LARGE_LIBRARIES = frozenset({"matplotlib", "pandas", "scipy", "seaborn"})
_ARENAS_OF_LARGE_LIBRARIES = 28  # pandas takes 26
_FILES = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


class Start(NamedTuple):
    """What a fork is to be. A rehearsal leaves which pages it wrote to as its output."""

    output_name: str
    may_choose_its_exit_code: bool
    is_rehearsal: bool = False


def may_choose_its_exit_code(source: bytes) -> bool:
    text = source.lower()
    return (
        any(part in text for part in _PARTS)
        or not _WORDS.isdisjoint(_WORD.findall(text))
        or any(part in text and pattern.search(text) for part, pattern in _IN_SOME_PLACES)
    )


class Interpreter:
    def __init__(self, known: frozenset[str]) -> None:
        """``known`` names the modules of a fresh interpreter; this package and what it needs leave sys.modules."""
        self._exit = os._exit
        self._collect = gc.collect
        self._objects = gc.get_objects
        self._list = os.listdir
        self._ends_with_0 = False
        self._rehearsed = ""
        self._modules: dict[str, ModuleType] = {}
        # Refers to itself and is frozen below, so what is put into it is never taken apart.
        self._kept: list[object] = []
        self._kept.append(self._kept)
        # Before those of the libraries: callbacks run in reverse order.
        atexit.register(self._leave)
        for name in set(sys.modules) - known:
            self._kept.append(sys.modules.pop(name))

    def import_libraries(self, names: tuple[str, ...]) -> None:
        is_large = any(name.partition(".")[0] in _LARGE_LIBRARIES for name in names)
        held = arenas.hold(_ARENAS_OF_LARGE_LIBRARIES) if is_large else []
        for name in names:
            try:
                __import__(name)
            except ImportError:
                continue  # the program meets the same error at the same place
        self._kept.append(warm_up())
        self._modules = {name: module for name, module in sys.modules.items() if name != "__main__"}
        held.clear()
        gc.collect()
        self._kept.append(arenas.fill_holes())
        gc.freeze()
        self._writable = pages.writable()

    def prepare(self) -> None:
        """In the server, before each fork: what costs more in the fork, where every page is to be copied."""
        if "numpy.random" in sys.modules:
            numpy = sys.modules["numpy"]
            # As random as seed() makes it, in a sixth of the time.
            state = numpy.frombuffer(os.urandom(4 * _STATE_WORDS), numpy.uint32)
            numpy.random.set_state(("MT19937", state, _STATE_WORDS))

    def begin(self, start: Start) -> None:
        """In the process of a program, behind its walls."""
        self._rehearsed = start.output_name if start.is_rehearsal else ""
        sys.argv[1:] = sys.orig_argv[-1:] = [start.output_name]
        # The first one is frozen: what the program's functions and classes hold would never be collected.
        main = ModuleType("__main__")
        main.__dict__.update(sys.modules["__main__"].__dict__, __annotations__={})
        sys.modules["__main__"] = main
        self._ends_with_0 = not start.may_choose_its_exit_code

    def _leave(self) -> None:
        """The last callback at exit. Returns where the interpreter must end by itself."""
        if self._ends_with_0 and not hasattr(sys, "last_value") and self._flush_standard_streams():
            self._end()
        self._keep_libraries()

    def _flush_standard_streams(self) -> bool:
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
        except Exception:  # noqa: BLE001 - the interpreter meets it again, reports it, and ends with 120
            return False
        return True

    def _end(self) -> None:
        # Before anything is collected: a collection may close a file before the buffer that is to be written to it.
        self._flush_files()
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        sys.modules.pop("__main__", None)
        self._collect()
        if self._rehearsed:
            Path(self._rehearsed).write_bytes(pages.written(self._writable))
        if self._flush_standard_streams():
            self._exit(0)

    def _flush_files(self) -> None:
        if max(map(int, self._list("/proc/self/fd"))) <= _FIRST_OWN_DESCRIPTOR:  # that of this listing
            return
        for found in self._objects():
            if type(found) in _FILES:
                try:
                    found.flush()
                except Exception:  # noqa: BLE001, S112 - as when an interpreter closes it: nobody is told
                    continue

    def _keep_libraries(self) -> None:
        """So that the interpreter takes only the program's own modules apart."""
        for name in self._modules.keys() - {"sys", "builtins"}:
            module = sys.modules.get(name)
            if module is self._modules[name]:
                self._kept.append(sys.modules.pop(name))

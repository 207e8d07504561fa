"""Reading Python source, from several threads at once."""

from __future__ import annotations

import ast
import threading
import warnings

_READING = threading.Lock()
_ATTEMPTS = 3


def parse_python(source: str | bytes) -> ast.Module:
    """The syntax tree of ``source``, without warnings about it. Raises what ``ast.parse`` raises for no Python.

    Before Python 3.12.2 the interpreter counts the depth of all trees that are being made in one place: two threads at
    it, and one ends with a SystemError that says nothing about its source (cpython issue 106905). Ours take turns;
    a library's thread may still come between, so that is tried again.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        with _READING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in somebody's string is no matter of ours
            try:
                return ast.parse(source)
            except SystemError:
                if attempt == _ATTEMPTS:
                    raise
    raise AssertionError("unreachable")

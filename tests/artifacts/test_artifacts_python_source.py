"""Python source read by several threads at once."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from deepchart_dagster.artifacts.python_source import parse_python


def nested(depth: int) -> str:
    return "value = " + "[" * depth + "1" + "]" * depth + "\n" + "x = 1\n" * 400


@pytest.fixture
def collecting_lets_others_run() -> Iterator[None]:
    """The collector runs in the middle of making a tree, and what it runs gives way to another thread."""

    def give_way(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(give_way)
    yield
    gc.callbacks.remove(give_way)
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collecting_lets_others_run")
def test_threads_do_not_disturb_one_another() -> None:
    sources = [nested(depth) for depth in (1, 20, 40, 60)] * 60
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(parse_python, sources))
    assert [len(tree.body) for tree in trees] == [401] * len(sources)


def test_what_is_no_python_is_said_as_ever_and_warnings_are_not() -> None:
    with pytest.raises(SyntaxError) as caught:
        parse_python("ok = 1\nthis is no python")
    assert caught.value.lineno == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(parse_python(r"x = '\d'").body) == 1

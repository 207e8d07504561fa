"""What differs between two keys, down to the member that differs, and what that member is in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from deepchart_dagster.artifacts.canonical import canonical_json

# First part of a path -> what it is. Where more of the path says which one, it is added.
_WORDS = {
    "version": "code version of the stage",
    "layout": "code version of the layout rules",
    "statements": "code version of the statement rules",
    "figures": "code version of the figure rules",
    "prompt": "prompt",
    "prompts": "prompt",
    "judge.prompt": "prompt of the judge",
    "model": "name of the model at its provider",
    "parameters": "model parameter",
    "program": "version of the scripted program",
    "budget": "token budget of the context",
    "limits": "limit of the program",
    "limits.wall_s": "time limit of the program",
    "runner": "execution",
    "runner.libraries": "library version",
    "stage1": "reference program, stage 1",
    "stage2": "reference program, stage 2",
    "engine": "OCR engine",
    "rapidocr": "OCR engine rapidocr",
    "paddleocr": "OCR engine paddleocr",
    "paddleocr-vl": "OCR engine paddleocr-vl",
    "text-layer": "OCR engine text-layer",
    "drawing": "drawing of pages",
    "drawing.dpi": "resolution at which pages are drawn",
    "drawing.max_pixels": "largest picture of a page",
    "intent": "intent of the query",
    "context": "context (context_variants)",
    "ocr": "what was read of the document",
    "document": "PDF of the document",
    "document.title": "title of the document",
    "document.domain": "domain of the document",
    "document.origins": "what is known from where:",
    "files": "context file",
    "data": "data block of the figure",
    "pdf": "PDF of the report",
    "state": "J (predicted_states)",
    "chart": "chart",
    "rubric": "rubric",
    "judge": "judge",
    "writer": "writer of the rubrics",
    "reference": "reference",
    "scorer": "scorer",
    "backend": "rendering backend",
}

# Members that a setting alone decides; a limit is called the same in the keys of both stages.
_SETTINGS = {
    "engine": "DEEPCHART_OCR_ENGINE",
    "drawing.dpi": "DEEPCHART_OCR_DPI",
    "drawing.max_pixels": "DEEPCHART_OCR_MAX_PIXELS",
    "predicted_states:limits.wall_s": "DEEPCHART_STAGE1_TIMEOUT_S",
    "rendered_charts:limits.wall_s": "DEEPCHART_CHART_TIMEOUT_S",
    "backend_charts:limits.wall_s": "DEEPCHART_CHART_TIMEOUT_S",
}


@dataclass(frozen=True)
class Change:
    """One member of a key; a side that lacks it reads as None. ``part`` is its path, ``what`` is that in words, with
    the setting that changed where it is one."""

    part: str
    what: str
    old: JsonValue
    new: JsonValue


def changes(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], asset: str = "") -> tuple[Change, ...]:
    """Every member that differs, in the order of their paths. ``asset``: whose keys these are."""
    found = _differences(old, new, ())
    return tuple(Change(".".join(path), _with_setting(path, asset), *sides) for path, sides in found)


def _with_setting(path: tuple[str, ...], asset: str) -> str:
    part = ".".join(path)
    setting = _SETTINGS.get(f"{asset}:{part}") or _SETTINGS.get(part)
    return f"{in_words(path)} ({setting})" if setting else in_words(path)


def in_words(path: tuple[str, ...]) -> str:
    """``("runner", "libraries", "matplotlib")`` as "library version matplotlib"."""
    named = tuple(name for name in path if not name.isdigit())
    for length in range(len(named), 0, -1):
        if words := _WORDS.get(".".join(named[:length])):
            return " ".join((words, *named[length:]))
    return " ".join(named)


def _differences(
    old: JsonValue | Mapping[str, JsonValue], new: JsonValue | Mapping[str, JsonValue], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[JsonValue, JsonValue]]]:
    before, after = _members(old), _members(new)
    if before is None or after is None:
        if canonical_json(old) != canonical_json(new):
            yield path, (_plain(old), _plain(new))
        return
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            yield from _differences(before[name], after[name], (*path, name))
        else:
            yield (*path, name), (before.get(name), after.get(name))


def _members(value: JsonValue | Mapping[str, JsonValue]) -> Mapping[str, JsonValue] | None:
    """Members by name: of an object, of a list of objects by position (a reference's two programs), or of a list of
    [name, value] pairs (the files of a context)."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(item, dict) for item in value):
        return {str(position): item for position, item in enumerate(value)}
    pairs = {pair[0]: pair[1] for pair in value if isinstance(pair, list) and len(pair) == 2 and _is_name(pair[0])}
    return {str(name): content for name, content in pairs.items()} if len(pairs) == len(value) else None


def _is_name(value: JsonValue) -> bool:
    return isinstance(value, str)


def _plain(value: JsonValue | Mapping[str, JsonValue]) -> JsonValue:
    return dict(value) if isinstance(value, Mapping) else value

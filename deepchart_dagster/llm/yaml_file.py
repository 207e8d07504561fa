"""A YAML file read strictly: no name twice, every complaint with file, line, place and remedy in one line."""

from __future__ import annotations

import copy
import difflib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from deepchart_dagster.artifacts.canonical import in_unicode
from deepchart_dagster.errors import ConfigurationError

Place = tuple[str, ...]
_Model = TypeVar("_Model", bound=BaseModel)

# Deeper than any place we name.
_MAX_DEPTH = 8
# A file of a hundred models has some 4,000 names and values. A few lines of aliases that name aliases have billions.
_MAX_NODES = 100_000
_MAX_NESTING = 50
_MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class YamlFile:
    """``lines`` holds the line (from 1) of every mapping member, by its path of names; ``text`` is the whole file."""

    path: Path
    text: str
    value: dict[str, JsonValue]
    lines: dict[Place, int]

    @classmethod
    def read(cls, path: Path) -> YamlFile:
        """Raises ConfigurationError: no such file, not UTF-8, invalid YAML, a name that comes twice."""
        text = _read_text(path)
        try:
            node, parsed = _parsed(text)
        except yaml.YAMLError as error:
            raise _yaml_error(path, error) from None
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{path}: {error}.", remedy="Correct the file.") from None
        if not isinstance(parsed, dict):
            raise ConfigurationError(f"{path}: a mapping is expected at the top.", remedy="See the file that ships.")
        file = cls(path=path, text=text, value=copy.deepcopy(parsed), lines={})
        _note_lines(file, node, ())
        _check_values(file, file.value, ())
        return file

    def section(self, name: str) -> dict[str, JsonValue]:
        """A top-level mapping. Raises ConfigurationError where it is absent or something else."""
        section = self.value.get(name)
        if not isinstance(section, dict):
            raise self.error(
                (name,), f"'{name}:' must be there and be a mapping of entries", "See the file that ships."
            )
        return section

    def validate(self, kind: type[_Model]) -> _Model:
        """The file as ``kind``. Types are strict: '4' is no number and true is no count."""
        try:
            return kind.model_validate_json(json.dumps(self.value, allow_nan=False), strict=True)
        except ValidationError as error:
            raise self._first_error(kind, error) from None

    def error(self, place: Place, what: str, remedy: str) -> ConfigurationError:
        line = self._line(place)
        at = f"{self.path}, line {line}" if line else str(self.path)
        return ConfigurationError(as_sentence(f"{at}: {'.'.join(place)}: {what}"), remedy=remedy)

    def unknown_key(self, place: Place, known: Iterable[str], more: str = "") -> ConfigurationError:
        known = list(known)
        remedy = f"Known keys: {', '.join(known)}." if known else "Remove this line: nothing is known there."
        return self.error(place, f"unknown key{did_you_mean(place[-1], known)}{more}", remedy)

    def invalid(self, place: Place, kind: type[BaseModel], error: ValidationError) -> ConfigurationError:
        """What ``kind`` has against the mapping that stands at ``place``."""
        return self._first_error(kind, error, place)

    def _line(self, place: Place) -> int | None:
        """The line of the place itself, or of the nearest thing around it (a missing member has none)."""
        while place:
            if place in self.lines:
                return self.lines[place]
            place = place[:-1]
        return None

    def _first_error(self, kind: type[BaseModel], error: ValidationError, at: Place = ()) -> ConfigurationError:
        # A misspelt name is two errors, and the missing one would not say where it stands.
        first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
        inside = tuple(str(part) for part in first["loc"])
        place = (*at, *inside)
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        if first["type"] == "extra_forbidden":
            return self.unknown_key(place, _known_names(kind, inside[:-1]), more)
        return self.error(place, f"{_in_words(first)}{more}", "Correct the file and run again.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` with the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def as_sentence(text: str) -> str:
    """With a full stop, where it does not end in a question."""
    return text if text.endswith("?") else f"{text}."


def _read_text(path: Path) -> str:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe or a device may have no end
            raise ConfigurationError(f"{path} is a pipe or a device.", remedy="Give the path of a file.")
        if path.is_file() and path.stat().st_size > _MAX_BYTES:
            raise ConfigurationError(
                f"{path} has {path.stat().st_size:,} bytes; no such file needs more than {_MAX_BYTES:,}.",
                remedy="Give the path of another file.",
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}.", remedy="Give the path of a file.") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 (byte {error.start}).", remedy="Save it as UTF-8.") from None


@lru_cache(maxsize=8)
def _parsed(text: str) -> tuple[yaml.Node | None, Any]:
    """The text as nodes, which know their lines, and as values: every step of a pipeline reads the same few files.

    Raises ValueError for more than can be gone through.
    """
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    _check_size(node)
    return node, yaml.safe_load(text)


def _check_size(node: yaml.Node | None) -> None:
    """Raises ValueError for nodes that, with their aliases written out, are too many or too deep (or without end)."""
    left = [(node, 0)]
    for _ in range(_MAX_NODES):
        if not left:
            return
        current, depth = left.pop()
        if depth > _MAX_NESTING:
            raise ValueError(f"values are nested deeper than {_MAX_NESTING}, or an alias (*) stands in its own value")
        if isinstance(current, yaml.MappingNode):
            left += [(part, depth + 1) for pair in current.value for part in pair]
        elif isinstance(current, yaml.SequenceNode):
            left += [(member, depth + 1) for member in current.value]
    raise ValueError(f"with its aliases (*) written out it has more than {_MAX_NODES:,} names and values")


def _yaml_error(path: Path, error: yaml.YAMLError) -> ConfigurationError:
    mark = getattr(error, "problem_mark", None)
    at = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
    what = " ".join(str(getattr(error, "problem", None) or error).split())
    return ConfigurationError(f"{at}: invalid YAML: {what}.", remedy="Correct that line; indent with spaces.")


def _check_values(file: YamlFile, value: object, place: Place) -> None:
    """Raises ConfigurationError for what YAML can hold and a setting cannot."""
    if isinstance(value, dict):
        for name, member in value.items():
            _check_values(file, member, (*place, str(name)))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            _check_values(file, member, (*place, str(number)))
    elif isinstance(value, float) and not math.isfinite(value):
        raise file.error(place, f"{value} is no number", "Write a finite number, or null where it is unknown.")
    elif isinstance(value, str) and in_unicode(value) != value:
        raise file.error(place, f"{value!r} holds half a character", "Write the character itself.")
    elif value is not None and not isinstance(value, str | bool | int | float):
        raise file.error(place, f"it is read as a {type(value).__name__}", "Write it in quotes.")


def _note_lines(file: YamlFile, node: yaml.Node | None, place: Place) -> None:
    if not isinstance(node, yaml.MappingNode) or len(place) >= _MAX_DEPTH:
        return
    for key, member in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        inside = (*place, name)
        if key.tag != "tag:yaml.org,2002:str":
            if key.tag.endswith(":merge"):
                continue
            raise ConfigurationError(
                f"{file.path}, line {line}: {'.'.join(inside)}: {name!r} is read as no text.",
                remedy="Write it in quotes.",
            )
        if inside in file.lines:
            raise ConfigurationError(
                f"{file.path}, line {line}: {'.'.join(inside)} stands twice (first on line {file.lines[inside]}).",
                remedy="Remove or rename one of them.",
            )
        file.lines[inside] = line
        _note_lines(file, member, inside)


def _in_words(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is missing"
    message = detail["msg"].removeprefix("Value error, ")
    # Our own checks say what they mean, and what they refuse may be a secret: it is not repeated.
    given = None if detail["type"] == "value_error" else detail.get("input")
    short = repr(given) if given is not None and not isinstance(given, dict | list) else ""
    return f"{message[:1].lower()}{message[1:]}" + (f", not {short[:80]}" if short else "")


def _known_names(kind: type[BaseModel], place: Place) -> list[str]:
    """The field names of the model that stands at ``place`` inside ``kind``."""
    current: Any = kind
    for part in place:
        if isinstance(current, type) and issubclass(current, BaseModel):
            current = current.model_fields[part].annotation if part in current.model_fields else None
        else:
            current = get_args(current)[-1] if get_args(current) else None
    if not (isinstance(current, type) and issubclass(current, BaseModel)):
        return []
    return [name for name in current.model_fields if name != "slug"]

"""Scoring one predicted state from files, without a store: ``deepchart score-file`` (design: cli).

The prediction is a state J as stage 1 writes it. What is asked of it is what there are references for:
where one of these sides is missing or empty J is not valid, and every side scores 0 (paper, appendix
B.1); so does a file that is no JSON.

A file that is no state is bare data: each side reads it as it would read a reference of that format.
So a reference, be it table or JSON, can stand as the prediction, and scores 1.0 against itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.benchmark.state import NAMES, STATE_MAX_BYTES, Side, StatePart, find_part, missing_side
from deepchart_dagster.errors import BenchmarkFormatError, UsageError
from deepchart_dagster.scoring.fidelity import Scorer, compare, reference_values
from deepchart_dagster.scoring.tables import TABLE_SUFFIXES, json_values, read_bounded, table_values

# Academic references keep raw_data beside what was derived from it: this name alone makes no state.
_AMBIGUOUS_NAME = "raw_data"


@dataclass(frozen=True)
class Prediction:
    """What a prediction file holds for each side. ``fault`` is why it is no valid state, None where it is."""

    contents: dict[Side, object] = field(default_factory=dict)
    misspelt: tuple[StatePart, ...] = ()
    fault: str | None = None
    message: str = ""


def score_file(
    reference_src: Path | None, reference_der: Path | None, prediction: Path, scorer: Scorer = "paper"
) -> dict[str, JsonValue]:
    """{"src", "der": {precision, recall, f1, n_reference, n_predicted, n_matched} or null, "diagnosis": […]}.

    A side is null where it has no reference, or where neither side of the comparison has a number. The
    diagnosis has an entry for each unmatched value (scoring.diagnosis), each misspelt member, and for a
    prediction that is not valid. Raises UsageError where a file is missing or no reference is named,
    BenchmarkFormatError for a reference that cannot be read.
    """
    references = _read_references({"src": reference_src, "der": reference_der}, scorer)
    given = read_prediction(prediction, references, scorer)
    scores: dict[str, JsonValue] = {"src": None, "der": None}
    diagnosis: list[JsonValue] = [*_notes(given)]
    for side, values in references.items():
        comparison = compare(values, given.contents.get(side), scorer)
        scores[side] = comparison.fidelity.as_json() if comparison.fidelity else None
        diagnosis += [{"side": side, **one.as_json()} for one in comparison.diagnosis]
    return {**scores, "diagnosis": diagnosis}


def _read_references(paths: dict[Side, Path | None], scorer: Scorer) -> dict[Side, list[float]]:
    """Side -> values, for the sides that have a reference with something in it."""
    named = {side: path for side, path in paths.items() if path is not None}
    if not named:
        raise UsageError("no reference is named.", remedy="Give --reference-src, --reference-der or both.")
    read = {
        side: reference_values(read_bounded(_existing(path)), str(path), side, scorer) for side, path in named.items()
    }
    return {side: values for side, values in read.items() if values is not None}


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not a file.", remedy="Check the path.")
    return path


def read_prediction(path: Path, sides: Iterable[Side], scorer: Scorer = "paper") -> Prediction:
    """What the file holds for each of ``sides``. Raises UsageError where there is no such file."""
    try:
        data = read_bounded(_existing(path), STATE_MAX_BYTES)
        if path.suffix.lower() in TABLE_SUFFIXES:
            values = table_values(decoded(data, name=str(path)), path.suffix.lower(), name=str(path))
            return Prediction(contents=dict.fromkeys(sides, values))
        value = load_json(data, name=str(path), max_bytes=STATE_MAX_BYTES)
    except BenchmarkFormatError as error:
        return Prediction(fault="invalid_output", message=str(error))
    return _read_state(value, tuple(sides), scorer) if is_state(value) else _read_bare(value, sides)


def is_state(value: object) -> bool:
    """Whether parsed JSON has a member that only states have."""
    parts = (find_part(value, side) for side in NAMES)
    return any(part is not None and part.name != _AMBIGUOUS_NAME for part in parts)


def _read_bare(value: object, sides: Iterable[Side]) -> Prediction:
    parts = {side: find_part(value, side) for side in sides}
    return Prediction(
        contents={side: part.content if part else json_values(value, side) for side, part in parts.items()},
        misspelt=_misspelt(parts.values()),
    )


def _read_state(value: object, sides: tuple[Side, ...], scorer: Scorer) -> Prediction:
    missing = missing_side(value, sides)
    if missing and scorer == "paper":
        return Prediction(
            fault=f"missing_{missing}_data",
            message=f"{NAMES[missing][0]} is missing or empty: the state is not valid and scores 0 on every side",
        )
    parts = {side: find_part(value, side) for side in sides}
    return Prediction(
        contents={side: part.content for side, part in parts.items() if part}, misspelt=_misspelt(parts.values())
    )


def _misspelt(parts: Iterable[StatePart | None]) -> tuple[StatePart, ...]:
    return tuple(part for part in parts if part is not None and part.is_misspelt)


def _notes(given: Prediction) -> Iterator[JsonValue]:
    if given.fault:
        yield {"side": None, "of": "prediction", "class": given.fault, "message": given.message}
    for part in given.misspelt:
        message = f"{NAMES[part.side][0]} was read from {part.member}"
        yield {"side": part.side, "of": "prediction", "class": "misspelt_member", "message": message}

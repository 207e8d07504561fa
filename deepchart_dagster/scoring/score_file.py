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
from deepchart_dagster.benchmark.numbers import unread_numbers
from deepchart_dagster.benchmark.state import NAMES, STATE_MAX_BYTES, StatePart, find_part, missing_side
from deepchart_dagster.benchmark.state import Side as StateSide
from deepchart_dagster.errors import BenchmarkFormatError, UsageError
from deepchart_dagster.scoring.diagnosis import Diagnosed, Side, diagnose
from deepchart_dagster.scoring.fidelity import Comparison, Scorer, compare, reference_values
from deepchart_dagster.scoring.labelled import Labelled
from deepchart_dagster.scoring.tables import TABLE_SUFFIXES, json_side, read_bounded, reference_data, table_records

# Academic references keep raw_data beside what was derived from it: this name alone makes no state.
_AMBIGUOUS_NAME = "raw_data"


@dataclass(frozen=True)
class Prediction:
    """What a prediction file holds for each side. ``fault`` is why it is no valid state, None where it is."""

    contents: dict[StateSide, object] = field(default_factory=dict)
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
    references = _read_references({"src": reference_src, "der": reference_der})
    given = read_prediction(prediction, references, scorer)
    scores: dict[str, JsonValue] = {"src": None, "der": None}
    diagnosis: list[JsonValue] = [*_notes(given)]
    for side, reference in references.items():
        values = reference.values(side, scorer)
        comparison = compare(values, given.contents.get(side), scorer)
        scores[side] = comparison.fidelity.as_json() if comparison.fidelity else None
        found = _diagnosed(comparison, reference.content, given.contents.get(side))
        diagnosis += [{"side": side, **one.as_json()} for one in found]
    return {**scores, "diagnosis": diagnosis}


def _diagnosed(comparison: Comparison, reference: object, predicted: object) -> list[Diagnosed]:
    """The values of the published harness's rules are no leaves of either document, and so have no labels."""
    if comparison.scorer == "upstream":
        sides = [[Labelled(value) for value in values] for values in (comparison.reference, comparison.predicted)]
        return diagnose(Side(sides[0]), Side(sides[1], unread_numbers(predicted)), comparison.pairs)
    return diagnose(Side.of(reference), Side.of(predicted), comparison.pairs)


@dataclass(frozen=True)
class _Reference:
    """A reference file with something on its side."""

    data: bytes
    name: str
    content: object

    def values(self, side: StateSide, scorer: Scorer) -> list[float]:
        return reference_values(self.data, self.name, side, scorer) or []


def _read_references(paths: dict[StateSide, Path | None]) -> dict[StateSide, _Reference]:
    """For the sides that have a reference with something in it."""
    named = {side: path for side, path in paths.items() if path is not None}
    if not named:
        raise UsageError("no reference is named.", remedy="Give --reference-src, --reference-der or both.")
    read: dict[StateSide, _Reference] = {}
    for side, path in named.items():
        data = read_bounded(_existing(path))
        content = reference_data(data, path.suffix, side, name=str(path))
        if content is not None:
            read[side] = _Reference(data, str(path), content)
    return read


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not a file.", remedy="Check the path.")
    return path


def read_prediction(path: Path, sides: Iterable[StateSide], scorer: Scorer = "paper") -> Prediction:
    """What the file holds for each of ``sides``. Raises UsageError where there is no such file."""
    try:
        data = read_bounded(_existing(path), STATE_MAX_BYTES)
        if path.suffix.lower() in TABLE_SUFFIXES:
            records = table_records(decoded(data, name=str(path)), path.suffix.lower(), name=str(path))
            return Prediction(contents=dict.fromkeys(sides, records))
        value = load_json(data, name=str(path), max_bytes=STATE_MAX_BYTES)
    except BenchmarkFormatError as error:
        return Prediction(fault="invalid_output", message=str(error))
    return _read_state(value, tuple(sides), scorer) if is_state(value) else _read_bare(value, sides)


def is_state(value: object) -> bool:
    """Whether parsed JSON has a member that only states have."""
    parts = (find_part(value, side) for side in NAMES)
    return any(part is not None and part.name != _AMBIGUOUS_NAME for part in parts)


def _read_bare(value: object, sides: Iterable[StateSide]) -> Prediction:
    parts = {side: find_part(value, side) for side in sides}
    return Prediction(
        contents={side: part.content if part else json_side(value, side) for side, part in parts.items()},
        misspelt=_misspelt(parts.values()),
    )


def _read_state(value: object, sides: tuple[StateSide, ...], scorer: Scorer) -> Prediction:
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

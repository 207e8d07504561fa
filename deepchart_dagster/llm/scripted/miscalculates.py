"""The scripted model ``miscalculates``: right source values, wrong derived ones.

Parameters (models.yaml): ``rate`` and ``seed`` (llm.scripted.faults). A hit instance has one kind of fault in all its
derived data, chosen among those that change its values:

    wrong_sign          what is subtracted is added and the other way round: every value has the other sign
    percent_fraction    a fraction for a percentage: a hundredth of every value
    wrong_denominator   one entry too many is counted: every value is n/(n + 1) of itself
    forgotten_entry     the last year, group or entity is left out
    reading_order       of a list of the largest, those that come first in the sources instead

The program holds the fault as code; the source data are the oracle's. The record has {"n_derived"}, how many derived
values are right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from pydantic import JsonValue

from deepchart_dagster.benchmark.numbers import numeric_leaves
from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.faults import FAULTS_VERSION, Dice, FaultParameters, Metric, record
from deepchart_dagster.llm.scripted.oracle import Task, answer_by, solve
from deepchart_dagster.llm.scripted.recipes import recipes_hash, source_data

NAME = "miscalculates"
# Changes with what is miscalculated, and with what the oracle reads.
VERSION = f"1, faults {FAULTS_VERSION}, oracle {oracle.VERSION}"

MiscalculationKind = Literal["wrong_sign", "percent_fraction", "wrong_denominator", "forgotten_entry", "reading_order"]

_APART = 1e-3
_Derivation = Callable[[Any], Any]

# Each is the text of ``wrongly(derive, src)``, which stands in the program beside the right ``derive``.
_EACH = """def each(value, change):
    if isinstance(value, dict):
        return {name: each(inner, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [each(inner, change) for inner in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return change(value) if is_number else value


"""
_FAULTS: dict[MiscalculationKind, str] = {
    "wrong_sign": _EACH
    + """def wrongly(derive, src):
    return each(derive(src), lambda number: -number)
""",
    "percent_fraction": _EACH
    + """def wrongly(derive, src):
    return each(derive(src), lambda number: number / 100)
""",
    "wrong_denominator": _EACH
    + """def wrongly(derive, src):
    right = derive(src)
    return each(right, lambda number: number * len(right) / (len(right) + 1))
""",
    "forgotten_entry": """def wrongly(derive, src):
    right = derive(src)
    return dict(list(right.items())[:-1]) if isinstance(right, dict) else right[:-1]
""",
    "reading_order": """def wrongly(derive, src):
    return derive(dict(list(src.items())[: len(derive(src))]))
""",
}

_WRONG_DERIVATION = """{derive}

derive_rightly = derive


{fault}

def derive(src):
    return wrongly(derive_rightly, src)
"""


Parameters = FaultParameters


def followed_files_hash() -> str:
    return recipes_hash()


def shows_at(dice: Dice[FaultParameters]) -> Metric:
    return Metric.F1_DER


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(_solve, request)


def _solve(task: Task) -> ScriptedReply:
    dice = Dice.of(NAME, Parameters, task)
    if task.stage == 2 or not dice.hit:
        return solve(task)
    found = task.sources()
    derive, src = task.known.recipe.derive.rstrip(), source_data(found)
    kinds = [kind for kind in get_args(MiscalculationKind) if changes_values(kind, derive, src)]
    if not kinds:  # a context that holds nothing: nothing can be derived, rightly or wrongly
        return solve(task)
    kind: MiscalculationKind = dice.generator().choice(kinds)
    record(task, dice, kind, {"n_derived": len(numeric_leaves(_derivation(derive)(src)))})
    return ScriptedReply(task.known.stage1_program(found, derive=wrong_derivation(kind, derive)))


def wrong_derivation(kind: MiscalculationKind, derive: str) -> str:
    """The text of a function ``derive`` that errs, of one that does not."""
    return _WRONG_DERIVATION.format(derive=derive, fault=_FAULTS[kind])


def changes_values(kind: MiscalculationKind, derive: str, src: dict[str, JsonValue]) -> bool:
    """Whether this fault leaves derived data, and at least one value that no right one stands for.

    The smallest values of both sides are compared with each other, then the next: where the sides could be matched at
    all, they match so.
    """
    right = sorted(numeric_leaves(_derivation(derive)(src)))
    try:
        wrong = sorted(numeric_leaves(_derivation(wrong_derivation(kind, derive))(src)))
    except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError):
        return False  # the derivation needs what this fault leaves out
    if not wrong:
        return False
    apart = (abs(a - b) > _APART * max(abs(a), abs(b)) for a, b in zip(right, wrong, strict=False))
    return len(right) != len(wrong) or any(apart)


def _derivation(text: str) -> _Derivation:
    """``derive`` of a recipe: a text of this package, as the programs hold it."""
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - our own recipes, no model's answer
    derivation: _Derivation = names["derive"]
    return derivation

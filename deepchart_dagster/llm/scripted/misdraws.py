"""The scripted model ``misdraws``: right J, a chart program that runs, and the wrong chart.

Parameters (models.yaml): ``rate`` and ``seed`` (llm.scripted.faults). A hit instance has one kind of fault:

    wrong_family   one pie of the derived values in place of the chart (of a pie: one row of coloured cells)
    unlabelled     the right marks without a word: no title, no labels of axes, ticks, parts or values, no legend

The program draws the right chart and changes it when it is saved. Every rubric asks about the kind of chart and about
titles, labels or legends, so both lower VAS.
"""

from __future__ import annotations

from typing import Literal, get_args

from deepchart_dagster.llm.scripted import oracle
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.faults import FAULTS_VERSION, Dice, FaultParameters, Metric, record
from deepchart_dagster.llm.scripted.oracle import Task, answer_by, program_of, solve
from deepchart_dagster.llm.scripted.recipes import recipes_hash

NAME = "misdraws"
# Changes with what is drawn wrongly.
VERSION = f"1, faults {FAULTS_VERSION}, oracle {oracle.VERSION}"

MisdrawingKind = Literal["wrong_family", "unlabelled"]

# What stands in front of the chart program: it takes the place of Figure.savefig.
_PRELUDE = """import matplotlib.figure

save_rightly = matplotlib.figure.Figure.savefig


{fault}

def save_wrongly(figure, *arguments, **options):
    spoil(figure)
    return save_rightly(figure, *arguments, **options)


matplotlib.figure.Figure.savefig = save_wrongly

"""
_FAULTS: dict[MisdrawingKind, str] = {
    "wrong_family": """def numbers_in(value):
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield abs(value) + 1


def spoil(figure):
    from matplotlib.patches import Wedge

    is_pie = any(isinstance(patch, Wedge) for axes in figure.axes for patch in axes.patches)
    figure.clear()
    axes = figure.add_subplot()
    values = list(numbers_in(J["der_data"]))[:12]
    if is_pie:
        axes.imshow([values])
    else:
        axes.pie(values)
""",
    "unlabelled": """def spoil(figure):
    figure.suptitle("")
    for axes in figure.axes:
        for side in ("left", "center", "right"):
            axes.set_title("", loc=side)
        axes.set(xlabel="", ylabel="", xticks=[], yticks=[])
        for text in [*axes.texts, *([axes.get_legend()] if axes.get_legend() else [])]:
            text.remove()
    for text in [*figure.texts, *figure.legends]:
        text.remove()
""",
}


Parameters = FaultParameters


def followed_files_hash() -> str:
    return recipes_hash()


def shows_at(dice: Dice[FaultParameters]) -> Metric:
    return Metric.VAS


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(_solve, request)


def _solve(task: Task) -> ScriptedReply:
    dice = Dice.of(NAME, Parameters, task)
    if task.stage == 1 or not dice.hit:
        return solve(task)
    kind: MisdrawingKind = dice.generator().choice(get_args(MisdrawingKind))
    record(task, dice, kind)
    return ScriptedReply(wrong_program(kind, program_of(task)))


def wrong_program(kind: MisdrawingKind, program: str) -> str:
    """``program`` with a figure that is spoilt as it is saved."""
    return _PRELUDE.format(fault=_FAULTS[kind]) + program

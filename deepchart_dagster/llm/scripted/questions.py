"""The questions that the scripted rubric writer asks and the scripted judge understands.

    instruction compliance   questions_compliance    kind of chart, orientation, panels, counts, arrangement
    data mapping topology    questions_topology      order, extremes, trends, series against series
    presentation quality     questions_presentation  title, labels, their room, units, legend, direction, gaps

Each form there is one kind of question: its text, and when the drawn data of a chart make its answer Yes.
The answer is No where a chart does not show what the question names; a text of no form is no question.
"""

from __future__ import annotations

from deepchart_dagster.llm.scripted import questions_compliance as compliance
from deepchart_dagster.llm.scripted import questions_presentation as presentation
from deepchart_dagster.llm.scripted import questions_topology as topology
from deepchart_dagster.llm.scripted.forms import Form

# Changes with the text of a question, and with when it holds: part of the versions of both who use them.
QUESTIONS_VERSION = "6"

FORMS: tuple[type[Form], ...] = (
    compliance.Shows,
    compliance.Oriented,
    compliance.AroundCircle,
    compliance.PanelCount,
    compliance.SeriesCount,
    compliance.PieceCount,
    compliance.Grid,
    compliance.Arranged,
    compliance.Outermost,
    compliance.Spans,
    topology.Larger,
    topology.Extreme,
    topology.SeriesLarger,
    topology.Trend,
    topology.Sign,
    topology.Present,
    topology.Tendency,
    topology.HighestLies,
    topology.CellExtreme,
    topology.CellLarger,
    presentation.HasTitle,
    presentation.AxisLabelled,
    presentation.UnitNamed,
    presentation.LegendNames,
    presentation.LegendCount,
    presentation.ColoursDiffer,
    presentation.TicksLabelled,
    presentation.LabelsApart,
    presentation.Increases,
    presentation.ZeroShown,
    presentation.NothingCutOff,
    presentation.NoGaps,
    presentation.BarsNamed,
    presentation.SlicesNamed,
    presentation.WholeCircle,
    presentation.CellsNamed,
)


def parse_question(text: str) -> Form | None:
    """The question that ``text`` asks; None where no form has that text."""
    for form in FORMS:
        question = form.read(text)
        if question is not None:
            return question
    return None

"""The scripted judge: answers the questions of ``questions.py`` from what the chart in the picture draws.

It looks the picture up by its bytes. Yes or No for a question that it understands and a chart that it knows;
"unclear" for everything else.
"""

from __future__ import annotations

from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.questions import QUESTIONS_VERSION, parse_question
from deepchart_dagster.llm.scripted.sight import chart_seen, line_after

# Changes with what the judge answers.
VERSION = f"1, questions {QUESTIONS_VERSION}"

QUESTION_MARKER = "Question:"


def answer(request: ScriptedRequest) -> ScriptedReply:
    text = line_after(request, QUESTION_MARKER)
    question = parse_question(text) if text else None
    drawing = chart_seen(request)
    if question is None or drawing is None:
        return ScriptedReply("unclear")
    return ScriptedReply("Yes" if question.holds(drawing) else "No")

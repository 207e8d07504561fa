"""The scripted rubric writer: questions about what the chart in the picture draws, each true of it.

The aspect is named by the line ``Aspect: …`` of the prompt; lines that begin with ``- `` name questions to
leave out. It proposes questions in order of what they tell, keeps those that hold, and writes as many as the
aspect may have. Without drawn data for the picture it says that it cannot see it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.drawing import Drawing
from deepchart_dagster.llm.scripted.forms import Form
from deepchart_dagster.llm.scripted.proposals import compliance, presentation, topology
from deepchart_dagster.llm.scripted.questions import QUESTIONS_VERSION, parse_question
from deepchart_dagster.llm.scripted.sight import chart_seen, line_after, lines_of

# Changes with what is asked, and in which order.
VERSION = f"1, questions {QUESTIONS_VERSION}"

ASPECT_MARKER = "Aspect:"
_LIST_MARKER = "- "


@dataclass(frozen=True)
class _Aspect:
    propose: Callable[[Drawing], Iterator[Form]]
    most: int


_ASPECTS = {
    "instruction compliance": _Aspect(compliance, most=5),
    "data mapping topology": _Aspect(topology, most=3),
    "presentation quality": _Aspect(presentation, most=5),
}


def answer(request: ScriptedRequest) -> ScriptedReply:
    aspect = _ASPECTS.get((line_after(request, ASPECT_MARKER) or "").casefold())
    if aspect is None:
        return ScriptedReply("I do not know which aspect the questions are to be about.", "refusal")
    drawing = chart_seen(request)
    if drawing is None:
        return ScriptedReply("I cannot see what this picture draws.", "refusal")
    avoid = {line.removeprefix(_LIST_MARKER) for line in lines_of(request) if line.startswith(_LIST_MARKER)}
    questions = islice(true_questions(aspect.propose(drawing), drawing, avoid), aspect.most)
    return ScriptedReply(json.dumps({f"q{n}": text for n, text in enumerate(questions, start=1)}, ensure_ascii=False))


def true_questions(proposals: Iterable[Form], drawing: Drawing, avoid: Iterable[str] = ()) -> Iterator[str]:
    """The texts of those proposals that a judge would read and answer Yes for ``drawing``, each once."""
    seen = set(avoid)
    for proposal in proposals:
        text = proposal.question
        if text in seen:
            continue
        seen.add(text)
        question = parse_question(text)
        if question is not None and question.holds(drawing):
            yield text

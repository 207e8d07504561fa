"""The scripted model ``oracle``: reads like a careful person, knows no answers.

It recognises a mini query by its chart purpose and follows the query's recipe (llm.scripted.recipes). All its
source values come from the messages it is sent: from the documents' text, and for pictures from the text
of the pages that they show. What was not sent is missing from its src_data, and what depends on it from its
der_data. In stage 2 it draws the data it is given. Anything else it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from deepchart_dagster.llm.model import Message
from deepchart_dagster.llm.scripted.base import ScriptedReply, ScriptedRequest
from deepchart_dagster.llm.scripted.lookups import Found, find_all
from deepchart_dagster.llm.scripted.recipes import KnownQuery, recipes_hash, recognise
from deepchart_dagster.llm.scripted.sent_context import asks_for_chart, asks_for_html, passages, stage2_data, text_of

# Changes with what the code here and in the look-ups answers; the queries' own files are in the key by their hash.
VERSION = "1"

_UNKNOWN = ScriptedReply("I know only the charts of the mini benchmark, and this is none of them.", "refusal")
_NO_DATA = ScriptedReply("There is no JSON after the data line, so there is nothing to draw.", "refusal")
_NO_HTML = ScriptedReply("I draw with Python only.", "refusal")


# How a scripted model comes to the source values of a query from what it is sent.
Reading: TypeAlias = Callable[[KnownQuery, ScriptedRequest], list[Found]]


def followed_files_hash() -> str:
    return recipes_hash()


def answer(request: ScriptedRequest) -> ScriptedReply:
    return answer_by(read_sources, request)


def answer_by(read: Reading, request: ScriptedRequest) -> ScriptedReply:
    """The oracle's answer, its source values read by ``read``."""
    known = recognise(text_of(request.messages))
    if known is None:
        return _UNKNOWN
    if asks_for_chart(request.messages):
        return _drawn(known, request.messages)
    return ScriptedReply(known.stage1_program(read(known, request)))


def read_sources(known: KnownQuery, request: ScriptedRequest) -> list[Found]:
    """The query's source values as far as the context holds them."""
    return find_all(known.recipe.sources, passages(request))


def _drawn(known: KnownQuery, messages: tuple[Message, ...]) -> ScriptedReply:
    """A program that draws the data in the messages."""
    if asks_for_html(messages):
        return _NO_HTML
    state = stage2_data(messages)
    return _NO_DATA if state is None else ScriptedReply(known.stage2_program(state))

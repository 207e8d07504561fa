"""What is mark-up in a context and what is text that looks like it.

A context is markdown with tables of HTML and page marks in comments. A page may itself show "</table>" or
"<!-- page 7 -->": written as it is, that would end a table or begin a page where there is none.
"""

from __future__ import annotations

import re

from deepchart_dagster.artifacts.canonical import in_unicode

# "p < 0.05 and n > 30" holds no tag.
TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>")
_BEGINS_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_BEGINS_CHARACTER = re.compile(r"&(?=#?\w{1,31};)")
# Controls (a terminal would obey them) and what turns the direction of the text behind it.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def as_text(text: str) -> str:
    """``text`` so that nothing in it is taken for a tag, a comment or the name of a character."""
    return _BEGINS_TAG.sub("&lt;", _BEGINS_CHARACTER.sub("&amp;", text))


def readable(text: str) -> str:
    """``text`` without control characters, and with U+FFFD for what no file can hold. Line breaks stay."""
    return _UNSEEN.sub("", in_unicode(text))

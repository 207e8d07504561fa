"""Questions as values: a text with slots, the regular expression that reads it back, and when it holds.

The text of a form is written once; writing a question and reading one are two uses of it. Labels stand in
curly quotes, so that a label may hold any character but these (``drawing.one_line`` makes them straight).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

from deepchart_dagster.llm.scripted.drawing import Drawing, one_line

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Slot:
    """``pattern`` has exactly one group; ``read`` gets what it matched, or None."""

    pattern: str
    write: Callable[[Any], str]
    read: Callable[[str | None], Any]


LABEL = Slot(pattern=r"“([^“”]*)”", write=lambda label: f"“{one_line(label)}”", read=lambda text: text)

# The series a question is about; nothing is said where the chart has only one.
SERIES = Slot(
    pattern=r"(?: in the series “([^“”]*)”)?",
    write=lambda name: "" if name is None else f" in the series “{one_line(name)}”",
    read=lambda text: text,
)


def counted(noun: str) -> Slot:
    """A count with its noun: ``1 panel``, ``3 panels``."""
    return Slot(
        pattern=rf"(\d{{1,9}}) {noun}s?",
        write=lambda count: f"{count} {noun}" if count == 1 else f"{count} {noun}s",
        read=lambda text: int(text or 0),
    )


NUMBER = Slot(pattern=r"(\d{1,9})", write=str, read=lambda text: int(text or 0))


def choice(phrases: Mapping[str, str]) -> Slot:
    """One of a few values, each with the phrase that stands for it."""
    values = {phrase: value for value, phrase in phrases.items()}
    pattern = "|".join(re.escape(phrase) for phrase in sorted(values, key=len, reverse=True))
    return Slot(pattern=f"({pattern})", write=phrases.__getitem__, read=lambda text: values[text or ""])


class Form:
    """A kind of question. Subclasses are frozen dataclasses whose fields are the slots of ``text``."""

    text: ClassVar[str]
    slots: ClassVar[Mapping[str, Slot]] = {}

    @property
    def question(self) -> str:
        return self.text.format(**{name: slot.write(getattr(self, name)) for name, slot in self.slots.items()})

    @classmethod
    def read(cls, question: str) -> Self | None:
        """The inverse of ``question``; None where the text is of another form."""
        match = cls._pattern().fullmatch(question)
        if match is None:
            return None
        return cls(**{name: cls.slots[name].read(match.group(name)) for name in cls.slots})

    @classmethod
    @cache
    def _pattern(cls) -> re.Pattern[str]:
        pieces = _SLOT.split(cls.text)  # text, slot name, text, slot name, …, text
        pattern = "".join(
            _named(piece, cls.slots[piece]) if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)
        )
        return re.compile(pattern)

    def holds(self, drawing: Drawing) -> bool:
        """Whether the answer is Yes for a chart that shows ``drawing``. What cannot be confirmed is No."""
        raise NotImplementedError


def _named(name: str, slot: Slot) -> str:
    return re.sub(r"(?<!\\)\((?!\?)", f"(?P<{name}>", slot.pattern, count=1)

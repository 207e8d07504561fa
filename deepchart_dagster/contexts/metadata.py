"""What a PDF says of itself: a filing's registrant, form and year, a paper's title.

Nothing is guessed: a 10-K (20-F, 40-F) is known by its cover, a paper by its abstract and its list of references;
any other domain is for the user to say. A scan without text says nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from deepchart_dagster.benchmark.documents import DocumentFacts
from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.children import ChildFailedError, inspect_pdf, run_child
from deepchart_dagster.errors import DocumentError, UsageError

_FORM = re.compile(r"(?:annual report on )?form\s*(10-?k(?:t|405|sb)?|20-f|40-f)(?:/a)?\b.{0,12}", re.IGNORECASE)
_YEAR_ENDED = re.compile(
    r"\byear\s+ended\s*:?\s*(?:\w+\s+\d{1,2}\s*,\s*|\d{1,2}\s+\w+\s+)?((?:19|20)\d{2})\b", re.IGNORECASE
)
_EXACT_NAME = re.compile(r"\(?\s*exact name of (?:the )?(?:registrant|company)", re.IGNORECASE)
_ABSTRACT = re.compile(r"abstract\b", re.IGNORECASE)
_NO_NAME = re.compile(r"commission|form\s|annual report|united states|washington|\d{3}", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"untitled|microsoft (?:word|powerpoint)|\.(?:pdf|docx?|tex|dvi|indd|pptx?|rtf|odt|ps)\b|^arxiv:|edgar online",
    re.IGNORECASE,
)
_LETTERS_OF_A_TITLE = 8
_LONGEST_TITLE = 300
_SAME_SIZE = 0.5
_COVER_LINES = 80
# Nobody waits minutes for a title: a page that takes this long says nothing here, and is read when contexts are built.
_FRONT_TIMEOUT_S = 45.0


@dataclass(frozen=True)
class FrontLine:
    """A line of one of the first pages; ``size`` in points."""

    text: str
    size: float
    page: int


@dataclass(frozen=True)
class FrontMatter:
    """contexts.front as it comes from the child."""

    title: str
    lines: tuple[FrontLine, ...]
    has_references: bool

    @property
    def cover(self) -> tuple[FrontLine, ...]:
        return tuple(line for line in self.lines if line.page == 1)


_FRONT = TypeAdapter(FrontMatter)


def read_metadata(pdf: Path) -> DocumentFacts:
    """What ``pdf`` says of itself; ``problem`` is set, and the rest empty, where it cannot be read."""
    problem = _why_unreadable(pdf)
    return DocumentFacts(problem=problem) if problem else _front(pdf)


def metadata_of_readable(pdf: Path) -> DocumentFacts:
    """As read_metadata; raises UsageError for a PDF that is encrypted, damaged or without pages."""
    if problem := _why_unreadable(pdf):
        raise UsageError(f"it cannot be read: {problem}.", remedy="Put a whole, unprotected PDF in its place.")
    return _front(pdf)


def _why_unreadable(pdf: Path) -> str | None:
    try:
        inspection = inspect_pdf(pdf, max_pages=0)
    except DocumentError as error:
        return error.message.rsplit(": ", 1)[-1].rstrip(".")
    except OSError:
        return None  # no process could be started, which is no fault of the PDF: the next one says so
    problem = "it is encrypted" if inspection.needs_password else inspection.error
    return None if inspection.n_pages and not problem else (problem or "it has no pages").rstrip(".")


def _front(pdf: Path) -> DocumentFacts:
    try:
        (answer,) = run_child({"do": "front", "pdf": str(pdf)}, item_timeout_s=_FRONT_TIMEOUT_S)
    except (ChildFailedError, ValueError) as error:
        return DocumentFacts(problem=f"its first pages cannot be read ({error})")
    except OSError as error:
        return DocumentFacts(problem=f"no process could be started to read it ({error.strerror})")
    return facts_of(_FRONT.validate_python(answer))


def facts_of(front: FrontMatter) -> DocumentFacts:
    form = _form(front.lines[:_COVER_LINES])
    if form is not None:
        return _filing(front, form)
    return DocumentFacts(domain=Domain.ACADEMIC if _is_paper(front) else None, title=_title(front))


def _form(lines: Sequence[FrontLine]) -> str | None:
    """The form's name where a line of the cover is nothing but that."""
    found = (_FORM.fullmatch(line.text) for line in lines)
    return next((match[1].upper().replace("10K", "10-K") for match in found if match), None)


def _filing(front: FrontMatter, form: str) -> DocumentFacts:
    company = _registrant(front.cover)
    year = _YEAR_ENDED.search(" ".join(line.text for line in front.lines[:_COVER_LINES]))
    if year is None:  # it quotes a form, it is none
        return DocumentFacts(title=_title(front))
    return DocumentFacts(
        domain=Domain.FINANCE,
        title=f"{company}, Form {form} {year[1]}" if company else _title(front),
        company=company,
        fiscal_years=(int(year[1]),),
    )


def _registrant(cover: Sequence[FrontLine]) -> str | None:
    """The name above "(Exact name of registrant …)", else what stands largest on a cover without these words."""
    for place, line in enumerate(cover):
        if found := _EXACT_NAME.search(line.text):
            before = line.text[: found.start()].strip(" _(")
            return before or _name_above([one for one in cover[:place] if one.text.strip("_ -–—")])
    names = [line for line in cover if not _NO_NAME.search(line.text)]
    return _largest(names)


def _name_above(lines: Sequence[FrontLine]) -> str | None:
    """The last line, with the one before it where the name is broken over two."""
    if not lines or not any(letter.isalpha() for letter in lines[-1].text):
        return None
    name = lines[-1]
    if len(lines) > 1:
        above = lines[-2]
        if abs(above.size - name.size) < 0.1 and above.text.isupper() and name.text.isupper():
            return name.text if _NO_NAME.search(above.text) else f"{above.text} {name.text}"
    return name.text


def _is_paper(front: FrontMatter) -> bool:
    starts = (line.text.replace(" ", "") if len(line.text) < 20 else line.text for line in front.lines)
    return front.has_references and any(_ABSTRACT.match(text) for text in starts)


def _title(front: FrontMatter) -> str | None:
    """The PDF's own title where it is one, else what stands largest on its first page."""
    own = " ".join(front.title.split())
    return own if _is_title(own) and " " in own else _largest(front.cover)


def _largest(lines: Sequence[FrontLine]) -> str | None:
    """The lines set in the largest type that say something, as far as they follow one another."""
    for size in sorted({line.size for line in lines}, reverse=True):
        first = next(place for place, line in enumerate(lines) if line.size == size)
        together: list[str] = []
        for line in lines[first:]:
            if abs(line.size - size) > _SAME_SIZE:
                break
            together.append(line.text)
        text = " ".join(together)
        if _is_title(text):
            return text
        if len(text) > _LONGEST_TITLE:  # running text: nothing is set larger than it
            return None
    return None


def _is_title(text: str) -> bool:
    letters = sum(letter.isalpha() for letter in text)
    return (
        letters >= _LETTERS_OF_A_TITLE
        and len(text) <= _LONGEST_TITLE
        and text.isprintable()
        and not _NO_TITLE.search(text)
    )

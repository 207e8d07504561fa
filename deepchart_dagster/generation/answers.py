"""From an answer to the program in it: format-level clean-up only, the code itself is never edited (paper, B.1).

Which part of an answer is the program, in this order:

1. Reasoning that a model prints in front (``<think>`` … ``</think>``, or anything up to a ``</think>`` that stands
   alone on its line) is no part of the answer.
2. An answer that is a program from its first to its last character is taken whole, whatever its strings hold:
   Python that parses, HTML from ``<!DOCTYPE`` or ``<html`` to ``</html>``.
3. Fenced blocks, read by CommonMark's rules: the last complete one of the requested language; else the last
   complete one without a language; else the last complete one.
4. A fence that is never closed: what follows its opening line. It is not ``complete``: the answer may have been
   cut off there.
5. No fence: the answer without its preamble. For Python the preamble ends before the first line from which the
   rest parses as a program, or before the first import statement where that comes earlier (then the program has
   an error of its own, and keeps it). Lines that Python could read but that do nothing ("Sure", "Answer: 42")
   belong to the preamble. For HTML it ends at ``<!DOCTYPE`` or ``<html``; what follows the last ``</html>`` is
   left out as well.
"""

from __future__ import annotations

import ast
import codeop
import re
import warnings
from dataclasses import dataclass
from typing import Literal

from deepchart_dagster.artifacts.python_source import parse_python
from deepchart_dagster.benchmark.model import CodeType

Origin = Literal["whole", "fence", "unclosed_fence", "after_preamble"]

_TAGS = {
    CodeType.PYTHON: frozenset({"python", "py", "python3", "python2", "ipython", "ipython3"}),
    CodeType.HTML: frozenset({"html", "htm", "html5", "xhtml"}),
}
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)")
_IMPORT = re.compile(r"(import [A-Za-z_][\w.]*( as \w+)?(\s*,|\s*$|\s*[;#])|from [A-Za-z_.][\w.]* import\s+[\w(*])")
_HTML_START = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_HTML_END = re.compile(r"</html\s*>", re.IGNORECASE)
_THINK_END = "</think>"
_THINK_END_ALONE = re.compile(r"^[ \t]*</think>[ \t]*\r?$", re.MULTILINE)
_UNPARSEABLE = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Code:
    """The program in an answer.

    source     as the model wrote it
    origin     how it was found
    n_blocks   complete fenced blocks in the answer
    complete   False where the answer ends inside the program's fence, or inside a page that has no end
    """

    source: str
    origin: Origin
    n_blocks: int
    complete: bool = True


@dataclass(frozen=True)
class _Block:
    tag: str
    source: str
    closed: bool


def language_of(text: str) -> CodeType:
    """In which language an answer's program is written, where the model was free to choose (paper, 5.4).

    The whole answer, where it is a program; else the last complete fenced block that names a language of ours; else
    the last block, or what stands without a fence, by how it begins. Python where nothing tells.
    """
    answer = _without_reasoning(text)
    if _is_whole_program(answer, CodeType.PYTHON):
        return CodeType.PYTHON
    blocks = [block for block in _blocks(answer) if block.source.strip()]
    named = [(language, block.closed) for block in blocks for language, tags in _TAGS.items() if block.tag in tags]
    if named:
        return next((language for language, closed in reversed(named) if closed), named[-1][0])
    if blocks:
        return CodeType.HTML if _HTML_START.match(blocks[-1].source.lstrip()) else CodeType.PYTHON
    python = _after_preamble_python(answer)
    if python is not None and _is_whole_program(python.source, CodeType.PYTHON):
        return CodeType.PYTHON
    return CodeType.HTML if _HTML_START.search(answer) else CodeType.PYTHON


def extract_code(text: str, language: CodeType) -> Code | None:
    """The program in ``text`` (rules: see the module), or None where there is none. Never raises."""
    answer = _without_reasoning(text)
    if _is_whole_program(answer, language):
        return Code(source=answer, origin="whole", n_blocks=0)
    blocks = [block for block in _blocks(answer) if block.source.strip()]
    closed = [block for block in blocks if block.closed]
    if closed:
        return Code(source=_choose(closed, language).source, origin="fence", n_blocks=len(closed))
    if blocks:
        return Code(source=blocks[-1].source, origin="unclosed_fence", n_blocks=0, complete=False)
    return _after_preamble_html(answer) if language is CodeType.HTML else _after_preamble_python(answer)


def _without_reasoning(text: str) -> str:
    if text.lstrip().startswith("<think>"):
        return text.rpartition(_THINK_END)[2] if _THINK_END in text else ""
    ends = list(_THINK_END_ALONE.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _choose(closed: list[_Block], language: CodeType) -> _Block:
    of_language = [block for block in closed if block.tag in _TAGS[language]]
    untagged = [block for block in closed if not block.tag]
    return (of_language or untagged or closed)[-1]


def _blocks(text: str) -> list[_Block]:
    """Fenced blocks in order; only the last one can be unclosed."""
    blocks: list[_Block] = []
    opening: re.Match[str] | None = None
    content: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line.rstrip("\r"))
        if opening is None:
            if fence and _may_open(fence):
                opening, content = fence, []
        elif fence and _closes(fence, opening):
            blocks.append(_block(opening, content, closed=True))
            opening = None
        else:
            content.append(line)
    return blocks if opening is None else [*blocks, _block(opening, content, closed=False)]


def _may_open(fence: re.Match[str]) -> bool:
    return fence["run"][0] == "~" or "`" not in fence["info"]


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    return fence["run"].startswith(opening["run"]) and not fence["info"].strip()


def _block(opening: re.Match[str], content: list[str], *, closed: bool) -> _Block:
    indent = len(opening["indent"])
    lines = [_dedented(line, indent) for line in content]
    words = opening["info"].split()
    tag = words[0].strip("{}.").lower() if words else ""
    return _Block(tag=tag, source="\n".join(lines) + ("\n" if closed and lines else ""), closed=closed)


def _dedented(line: str, indent: int) -> str:
    """A block in a list item is indented as a whole; its content loses at most what its fence has."""
    blank = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, blank) :]


def _is_whole_program(answer: str, language: CodeType) -> bool:
    if language is CodeType.HTML:
        stripped = answer.strip()
        ends = list(_HTML_END.finditer(stripped))
        return bool(_HTML_START.match(stripped) and ends and ends[-1].end() == len(stripped))
    body = _parse(answer)
    return not isinstance(body, int) and _acts(body) and not _is_inert(body[0])


def _after_preamble_html(answer: str) -> Code | None:
    start = _HTML_START.search(answer)
    if start is None:
        return None
    ends = list(_HTML_END.finditer(answer, start.end()))
    page = answer[start.start() : ends[-1].end() if ends else len(answer)]
    return Code(source=page, origin="after_preamble", n_blocks=0, complete=bool(ends))


def _after_preamble_python(answer: str) -> Code | None:
    lines = answer.split("\n")
    first_import = next((index for index, line in enumerate(lines) if _IMPORT.match(line)), None)
    start = _first_parseable(lines, len(lines) if first_import is None else first_import)
    if start is None:
        start = first_import
    if start is None:
        return None
    return Code(source="\n".join(lines[start:]), origin="after_preamble", n_blocks=0)


def _first_parseable(lines: list[str], stop: int) -> int | None:
    """The first line up to line ``stop`` from which the rest is a program.

    After a syntax error the search goes on at the line of the error, not at the next line: what lies between
    would lead to the same error, and parsing the rest from each of thousands of lines would take minutes.
    """
    index = 0
    while index < len(lines) and index <= stop:
        if not _may_begin(lines[index]):
            index += 1
            continue
        body = _parse("\n".join(lines[index:]))
        if not isinstance(body, int):
            return index + _leading_inert_lines(body) if _acts(body) else None
        index += max(1, body - 1)
    return None


def _may_begin(line: str) -> bool:
    """Whether a statement can start with this line; a cheap test that prose fails."""
    if not line.strip() or line[0] in " \t":
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            codeop.compile_command(line, symbol="exec")
        except _UNPARSEABLE:
            return False
    return True


def _leading_inert_lines(body: list[ast.stmt]) -> int:
    """How many lines to skip so that the program begins with a statement that does something."""
    skipped = 0
    for statement in body:
        if not _is_inert(statement):
            break
        skipped = statement.end_lineno or statement.lineno
    return skipped


def _acts(body: list[ast.stmt]) -> bool:
    """Whether anything would happen at all; a remark in quotation marks parses, and is no program."""
    return any(not _is_inert(statement) and not _is_text(statement) for statement in body)


def _is_inert(statement: ast.stmt) -> bool:
    """A word or two that Python happens to read as an expression or an annotation; a docstring is none."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    if not isinstance(statement, ast.Expr) or _is_text(statement):
        return False
    acting = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return not any(isinstance(node, acting) for node in ast.walk(statement.value))


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _parse(source: str) -> list[ast.stmt] | int:
    """The statements, or the line (from 1) at which the source stops being Python."""
    try:
        return parse_python(source).body
    except SyntaxError as error:
        return error.lineno or 1
    except _UNPARSEABLE:
        return 1

"""From an answer to its program: one case for every rule, and what must hold for any text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.generation.answers import Code, extract_code

PROGRAM = 'import json, sys\n\nrows = {"a": 1}\njson.dump(rows, open(sys.argv[1], "w"))\n'
PAGE = "<!DOCTYPE html>\n<html><body><canvas></canvas></body></html>"


def python(text: str) -> Code:
    code = extract_code(text, CodeType.PYTHON)
    assert code is not None
    return code


def html(text: str) -> Code:
    code = extract_code(text, CodeType.HTML)
    assert code is not None
    return code


def test_a_raw_program_is_taken_as_it_is() -> None:
    assert python(PROGRAM) == Code(source=PROGRAM, origin="whole", n_blocks=0)


def test_a_program_that_writes_markdown_is_not_searched_for_fences() -> None:
    program = 'note = """\n```python\nx = 1\n```\n"""\nprint(note)\n'
    assert python(program).source == program


def test_the_last_complete_block_of_the_language_counts() -> None:
    answer = f"First try:\n```python\nx = 1\n```\nBetter:\n```py\n{PROGRAM}```\nRun it:\n```bash\npython this.py\n```\n"
    assert python(answer) == Code(source=PROGRAM, origin="fence", n_blocks=3)


def test_without_the_language_the_last_untagged_block_counts_and_else_the_last() -> None:
    assert python("```\na = 1\n```\n```\nb = 2\n```\n```json\n{}\n```").source == "b = 2\n"
    assert python("```text\na = 1\n```\n```js\nb = 2\n```").source == "b = 2\n"


def test_a_complete_block_is_preferred_to_a_later_one_that_was_cut_off() -> None:
    assert python(f"```python\n{PROGRAM}```\nOr:\n```python\nimport js").source == PROGRAM


def test_an_unclosed_fence_gives_what_follows_and_says_so() -> None:
    code = python("Here it is:\n```python\nimport json\nrows = [1, 2")
    assert (code.source, code.origin, code.complete) == ("import json\nrows = [1, 2", "unclosed_fence", False)


def test_a_longer_fence_holds_shorter_ones() -> None:
    assert python("````python\nx = '''\n```\n'''\n````").source == "x = '''\n```\n'''\n"
    assert python("~~~python\nx = 1\n~~~").source == "x = 1\n"


def test_a_block_in_a_list_item_loses_the_indent_of_its_fence() -> None:
    assert python("1. Do:\n   ```python\n   if True:\n       x = 1\n   ```").source == "if True:\n    x = 1\n"


def test_windows_line_ends_do_not_hide_a_fence() -> None:
    assert python("```python\r\nx = 1\r\n```\r\n").source == "x = 1\r\n"


@pytest.mark.parametrize(
    "preamble",
    [
        "Sure! Here's the program:\n\n",
        "python\n",
        "Answer: 42\n",
        "Sure, here\n- one\n- two\n",
        "I looked at the table (page 3,\nlines 4 to 7) and took\n",
        "## Solution is below, isn't it\n**Result**\n",
    ],
)
def test_a_preamble_without_fences_is_left_out(preamble: str) -> None:
    assert python(preamble + PROGRAM).source.endswith(PROGRAM)
    assert "import json" in python(preamble + PROGRAM).source.split("\n\n")[0]
    compile(python(preamble + PROGRAM).source, "this.py", "exec")


def test_a_docstring_belongs_to_the_program() -> None:
    program = '"""Makes J."""\n' + PROGRAM
    assert python("Here you are!\n" + program).source == program


def test_a_program_with_an_error_is_kept_whole_from_its_first_import() -> None:
    program = "import sys\nx = = 1\nprint(x)\n"
    assert python("Here's the code:\n" + program) == Code(source=program, origin="after_preamble", n_blocks=0)


def test_a_remark_after_an_unfenced_program_is_not_cut_away() -> None:
    text = PROGRAM + "\nThis program writes the rows.\n"
    assert python(text).source == text


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n",
        "I cannot help with that.",
        "Sorry",
        '"I cannot"',
        "<think>\nimport json",
        "```python\n\n```",
        "None",
    ],
)
def test_no_program_is_none(answer: str) -> None:
    assert extract_code(answer, CodeType.PYTHON) is None


def test_reasoning_in_front_is_no_part_of_the_answer() -> None:
    draft = "```python\ndraft = 1\n```\n"
    assert python(f"<think>\n{draft}</think>\n{PROGRAM}").source.strip() == PROGRAM.strip()
    assert python(f"{draft}</think>\n\n{PROGRAM}").source.strip() == PROGRAM.strip()


def test_html_is_found_fenced_raw_and_after_a_preamble() -> None:
    assert html(PAGE) == Code(source=PAGE, origin="whole", n_blocks=0)
    assert html(f"```css\nx\n```\n```html\n{PAGE}\n```").source == PAGE + "\n"
    assert html(f"Here is the page:\n{PAGE}\nEnjoy!") == Code(source=PAGE, origin="after_preamble", n_blocks=0)
    assert extract_code("Use <b>bold</b> bars.", CodeType.HTML) is None


def test_a_page_that_was_cut_off_is_not_complete() -> None:
    code = html("<!doctype html><html><body><script>draw(")
    assert (code.source, code.complete) == ("<!doctype html><html><body><script>draw(", False)


_PROSE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="`~"), max_size=60)
_CODE = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="`~\n\r"), max_size=30), min_size=1, max_size=6
)


@given(before=_PROSE, lines=_CODE, after=_PROSE, run=st.integers(3, 6))
def test_what_stands_in_the_one_fence_comes_out_unchanged(before: str, lines: list[str], after: str, run: int) -> None:
    source = "x = 1\n" + "\n".join(lines) + "\n"
    answer = f"{before}\n{'`' * run}python\n{source}{'`' * run}\n{after}"
    if "think>" not in answer:
        assert python(answer) == Code(source=source, origin="fence", n_blocks=1)


_PIECES = st.lists(
    st.sampled_from(
        ["```python\n", "```\n", "~~~\n", "import sys\n", "x = (\n", "Sure\n", PROGRAM, PAGE, "</think>\n", "'"]
    )
    | st.text(max_size=20),
    max_size=12,
).map("".join)


@settings(max_examples=300)
@given(text=_PIECES, language=st.sampled_from(list(CodeType)))
def test_any_text_gives_a_part_of_itself_or_nothing(text: str, language: CodeType) -> None:
    code = extract_code(text, language)
    if code is not None:
        assert code.source.strip()
        kept = [line.strip() for line in code.source.split("\n") if line.strip()]
        given_lines = [line.strip() for line in text.split("\n")]
        assert all(any(line in other for other in given_lines) for line in kept)


def test_long_prose_does_not_take_long() -> None:
    prose = "The table on this page shows what the company earned, and it isn't small.\n" * 5000
    begun = time.monotonic()
    assert extract_code(prose + "- net\n- income\n" * 500, CodeType.PYTHON) is None
    assert time.monotonic() - begun < 10

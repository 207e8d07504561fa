"""Prompts: YAML files ``<name>.yaml`` with ``system`` and ``user``, Jinja templates, versioned by their bytes.

A set is a folder. A user's set (``--prompts DIR``) replaces the names it has; the others are ours. The hash of
every prompt is part of the key of what was made with it.

| name                            | variables                                                                     |
|---------------------------------|-------------------------------------------------------------------------------|
| stage1                          | chart_type, chart_purpose, chart_layout, documents, chunks, data              |
| stage2                          | code_type, chart_type, chart_purpose, chart_layout, json_data                 |
| rubric_<aspect>                 | gen_parameter (JSON: chart_type, chart_purpose, chart_layout), avoid, image   |
| judge                           | question, image                                                               |

The published harness's set is taken as it stands, ``--prompts <clone>/eval/prompts``, under its own file names
(``PUBLISHED_NAMES``). A text without ``{{ name }}`` and ``{% … %}`` in which one of its variables stands in single
braces is filled as ``str.format`` fills it (``{question}``, ``{{`` for a brace): the published rubric and judge
prompts are such. ``image`` says that the picture is attached.

``chart_type`` and ``chart_layout`` may be None: our prompts then leave their line out. ``avoid`` lists questions of an
earlier rubric that did not hold. ``documents`` are mappings {title, document_id, name, text}, ``chunks`` {index,
document_id, first_page, last_page}. ``data`` is made here from both (``context_block``), so that every prompt set
shows a context in one layout, which scripted models read too:

    ### Document 1: <title> [<document_id>] (<name>)
    ````
    <text>
    ````

    Chunk 3: <document_id>, pages 17-24

A document's text stands between two equal lines of back-ticks, at least four and always more than the longest run
inside the text: read to the next line that equals the opening one. Documents and chunks are numbered from 1. The
pictures follow the user text as image parts, in the order of the chunk lines. Beside the context, the lines
``Code type: …``, ``Chart type: …``, ``Chart purpose: …``, ``Chart layout: …`` of our prompts stand alone on their
line, and in stage 2 the JSON is everything after the line ``Data (JSON):``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field

from deepchart_dagster.artifacts.canonical import content_hash, sha256_text
from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.llm.model import Message
from deepchart_dagster.llm.yaml_file import YamlFile

OUR_FOLDER = Path(__file__).resolve().parent / "prompt_files"
PROMPT_NAMES = (
    "stage1",
    "stage2",
    "rubric_instruction_compliance",
    "rubric_data_mapping_topology",
    "rubric_presentation_quality",
    "judge",
)

# name -> where the published harness keeps its own, below eval/prompts.
PUBLISHED_NAMES = {
    "stage1": "stage1_extract.yaml",
    "stage2": "stage2_visualize.yaml",
    "rubric_instruction_compliance": "vlm_eval/ic.yaml",
    "rubric_data_mapping_topology": "vlm_eval/dm.yaml",
    "rubric_presentation_quality": "vlm_eval/pq.yaml",
    "judge": "vlm_eval/ask_vlm.yaml",
}

# Part of every prompt's hash: bumped when the same file begins to give other messages (layout of a context).
PROMPT_VERSION = 1

_MINIMUM_FENCE = 4
_ATTACHED = "(the chart is attached as a picture)"


class _PromptFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    system: str = ""
    user: str = Field(min_length=1)


class Text(Protocol):
    """A template of one message."""

    def render(self, **variables: object) -> str: ...


@dataclass(frozen=True)
class Prompt:
    """One compiled prompt. ``source`` is the file's text, ``path`` where it came from (for messages)."""

    path: Path
    source: str
    system: Text
    user: Text

    @property
    def hash(self) -> str:
        return content_hash([PROMPT_VERSION, sha256_text(self.source)])


@dataclass(frozen=True)
class PromptSet:
    prompts: Mapping[str, Prompt]

    @classmethod
    def load(cls, folder: Path | None = None) -> PromptSet:
        """Our prompts, or those of ``folder`` over ours.

        Raises ConfigurationError naming the file: no such folder, nothing in it that is a prompt of ours, not
        YAML, other members than system and user, a template that cannot be compiled.
        """
        paths = _paths(OUR_FOLDER)
        if folder is not None:
            paths |= _users_paths(folder)
        return cls(prompts={name: _read(path) for name, path in paths.items()})

    def messages(self, name: str, **variables: object) -> tuple[Message, ...]:
        """(system, user) as texts; only the user message where the prompt has no system text.

        Raises ConfigurationError that names the file where a template asks for a variable that ``name`` has not.
        """
        prompt = self._prompt(name)
        if name == "stage1":
            variables = _with_context(variables)
        elif name != "stage2":
            variables = {"image": _ATTACHED, **variables}
        system = _render(prompt, prompt.system, variables).strip()
        user = Message.text("user", _render(prompt, prompt.user, variables).strip())
        return (Message.text("system", system), user) if system else (user,)

    def hash(self, name: str) -> str:
        """Hash of the file's text and of the way it is rendered."""
        return self._prompt(name).hash

    def _prompt(self, name: str) -> Prompt:
        try:
            return self.prompts[name]
        except KeyError:
            raise ConfigurationError(
                f"there is no prompt named {name!r}.", remedy=f"The names are {', '.join(PROMPT_NAMES)}."
            ) from None


def context_block(documents: Sequence[Mapping[str, object]], chunks: Sequence[Mapping[str, object]]) -> str:
    """Documents, then chunk lines, in the layout that this module's docstring describes."""
    parts = [_document_block(number, document) for number, document in enumerate(documents, start=1)]
    lines = [
        f"Chunk {chunk['index']}: {chunk['document_id']}, pages {chunk['first_page']}-{chunk['last_page']}"
        for chunk in chunks
    ]
    return "\n\n".join([*parts, "\n".join(lines)] if lines else parts)


def _document_block(number: int, document: Mapping[str, object]) -> str:
    text = str(document["text"])
    fence = fence_for(text)
    header = f"### Document {number}: {document['title']} [{document['document_id']}] ({document['name']})"
    return f"{header}\n{fence}\n{text}\n{fence}"


def fence_for(text: str) -> str:
    """Back-ticks that cannot be taken for part of ``text``."""
    runs = re.findall(r"`+", text) if "`" in text else ()  # most texts have none, and a million characters take a while
    longest = max(map(len, runs), default=0)
    return "`" * max(_MINIMUM_FENCE, longest + 1)


def _with_context(variables: Mapping[str, object]) -> dict[str, object]:
    documents, chunks = variables.get("documents", ()), variables.get("chunks", ())
    if not isinstance(documents, Sequence) or not isinstance(chunks, Sequence):
        raise TypeError("documents and chunks are sequences of mappings")
    shown = {"documents": documents, "chunks": chunks, "data": context_block(documents, chunks)}
    return {**variables, **shown}


def _paths(folder: Path) -> dict[str, Path]:
    """name -> its file in ``folder``, under our name or the published one."""
    places = {name: (folder / f"{name}.yaml", folder / PUBLISHED_NAMES[name]) for name in PROMPT_NAMES}
    found = {name: next((path for path in paths if path.is_file()), None) for name, paths in places.items()}
    return {name: path for name, path in found.items() if path is not None}


def _users_paths(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise ConfigurationError(f"the prompt folder {folder} is not there.", remedy="Name a folder with prompt files.")
    paths = _paths(folder)
    if not paths:
        wanted = ", ".join(f"{name}.yaml" for name in PROMPT_NAMES)
        raise ConfigurationError(
            f"{folder} has no prompt file.",
            remedy=f"Any of these can be replaced: {wanted}; of a clone of the published benchmark, name eval/prompts.",
        )
    return paths


def _read(path: Path) -> Prompt:
    file = YamlFile.read(path)
    texts = file.validate(_PromptFile)
    return Prompt(path=path, source=file.text, system=_compile(path, texts.system), user=_compile(path, texts.user))


def _shown(value: object) -> object:
    return "" if value is None else value


# A prompt set may come from a stranger: templates see their variables and nothing of this process.
_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, finalize=_shown
)


_JINJA = re.compile(r"\{\{-?\s*[A-Za-z_]|\{%")
_VARIABLES = (
    "gen_parameter",
    "question",
    "image",
    "data",
    "json_data",
    "code_type",
    "chart_type",
    "chart_purpose",
    "chart_layout",
)
_IN_SINGLE_BRACES = re.compile(r"\{(?:" + "|".join(_VARIABLES) + r")\}")


class _Plain(string.Formatter):
    """``str.format`` for names alone: no attributes, no items of what they stand for."""

    def get_field(self, field_name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[object, str]:
        if field_name not in kwargs:
            raise TemplateError(f"{field_name!r} is undefined")
        return _shown(kwargs[field_name]), field_name


@dataclass(frozen=True)
class _Formatted:
    text: str

    def render(self, **variables: object) -> str:
        return _Plain().vformat(self.text, (), variables)


def _compile(path: Path, text: str) -> Text:
    if not _JINJA.search(text) and _IN_SINGLE_BRACES.search(text):
        return _format(path, text)
    try:
        return _ENVIRONMENT.from_string(text)
    except TemplateSyntaxError as error:
        raise ConfigurationError(
            f"the prompt {path} is no valid template: {error.message} (line {error.lineno} of its text).",
            remedy="Placeholders are written as {{ name }}.",
        ) from error


def _format(path: Path, text: str) -> _Formatted:
    try:
        list(string.Formatter().parse(text))
    except ValueError as error:
        raise ConfigurationError(
            f"the prompt {path} is no valid template: {error}.",
            remedy="Placeholders are written as {name}, a brace as {{.",
        ) from error
    return _Formatted(text)


def _render(prompt: Prompt, template: Text, variables: Mapping[str, object]) -> str:
    try:
        return template.render(**variables)
    except TemplateError as error:
        raise ConfigurationError(
            f"the prompt {prompt.path} cannot be filled: {error.message}.",
            remedy=f"Its placeholders may be: {', '.join(sorted(variables))}.",
        ) from error

"""A context within a model's budget: what of it a model is given (paper, B.1).

Text: when instructions and context together exceed 80 % of the model's window, the leading part of the context is
kept up to that budget, on a token boundary; instructions are never cut. Pictures: a prefix of the ordered chunks,
at most as many as the model's own cap, or 32, 48, 64, 120 for windows of up to 128 K, 256 K, 512 K and more tokens.
What was left out is recorded in tokens, files, chunks and the last page that is still there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from deepchart_dagster.benchmark.model import Modality
from deepchart_dagster.contexts.model import ContextFile, ImageChunk, ModelContext
from deepchart_dagster.contexts.tokens import TokenCounter, counter_of
from deepchart_dagster.errors import ConfigurationError, MissingInputError
from deepchart_dagster.llm.registry import ModelSpec

# Part of every key of what was made from a model input: bumped when the same context gives another input.
BUDGET_VERSION = 1

CONTEXT_SHARE = 0.8
# K is 1024 here, so that a window stated as 128,000 and one stated as 131,072 tokens are both "128 K".
_CHUNK_CAPS = ((128 * 1024, 32), (256 * 1024, 48), (512 * 1024, 64))
_LARGEST_CHUNK_CAP = 120
# Vision models that say how they count take one token for some 750 to 784 pixels.
_PIXELS_PER_TOKEN = 750
# Documents are written page by page, each after such a line (contexts.ocr).
_PAGE_MARK = re.compile(r"^<!-- page (\d+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class InputDocument:
    """One text of the context as the model gets it; ``text`` may be the leading part only."""

    title: str
    document_id: str
    name: str
    text: str


@dataclass(frozen=True)
class Cut:
    """What the budget left out.

    tokens          of text
    files           names of texts left out whole
    cut_file        the text of which only the leading part is kept, if any
    last_page       page (of its document) where that part ends; None where the context does not tell
    chunks          pictures left out
    """

    tokens: int = 0
    files: tuple[str, ...] = ()
    cut_file: str | None = None
    last_page: int | None = None
    chunks: int = 0

    def __bool__(self) -> bool:
        return self.tokens > 0 or self.chunks > 0


@dataclass(frozen=True)
class ModelInput:
    """What a model is given. Token counts are ours (contexts.tokens, ``tokenizer``), not the provider's.

    fixed_tokens     instructions, headers of the documents
    context_tokens   texts as given
    picture_tokens   estimated from width × height
    budget_tokens    what fixed and context tokens together may not exceed
    """

    documents: tuple[InputDocument, ...]
    chunks: tuple[ImageChunk, ...]
    fixed_tokens: int
    context_tokens: int
    picture_tokens: int
    budget_tokens: int
    tokenizer: str
    cut: Cut

    @property
    def tokens(self) -> int:
        return self.fixed_tokens + self.context_tokens + self.picture_tokens

    def record(self) -> dict[str, JsonValue]:
        """Everything but the texts and pictures themselves, as JSON."""
        cut: dict[str, JsonValue] = {**asdict(self.cut), "files": list(self.cut.files)}
        return {
            "n_documents": len(self.documents),
            "n_chunks": len(self.chunks),
            "fixed_tokens": self.fixed_tokens,
            "context_tokens": self.context_tokens,
            "picture_tokens": self.picture_tokens,
            "budget_tokens": self.budget_tokens,
            "tokenizer": self.tokenizer,
            "cut": cut if self.cut else None,
        }


def budget_tokens(model: ModelSpec) -> int:
    return int(CONTEXT_SHARE * model.context_window)


def chunk_cap(model: ModelSpec) -> int:
    """How many image chunks ``model`` is given at most."""
    if model.max_image_chunks is not None:
        return model.max_image_chunks
    return next((cap for window, cap in _CHUNK_CAPS if model.context_window <= window), _LARGEST_CHUNK_CAP)


def budget_identity(model: ModelSpec, modality: Modality) -> dict[str, JsonValue]:
    """Key parts: how much of a context this model is given."""
    identity: dict[str, JsonValue] = {
        "version": BUDGET_VERSION,
        "tokens": budget_tokens(model),
        "tokenizer": counter_of(model.litellm_model).name,
    }
    return {**identity, "chunks": chunk_cap(model)} if modality is Modality.MULTIMODAL else identity


def picture_tokens(width: int, height: int) -> int:
    """An estimate from the size in pixels; providers differ and some scale large pictures down first."""
    return math.ceil(width * height / _PIXELS_PER_TOKEN)


def fit_context(context: ModelContext, folder: Path, model: ModelSpec, fixed_tokens: int) -> ModelInput:
    """The leading part of ``context`` that ``model`` can be given beside ``fixed_tokens`` of instructions.

    ``folder`` is the context's folder in storage. Raises MissingInputError that names a file that is not there,
    ConfigurationError where the window has no room for the instructions.
    """
    budget = budget_tokens(model)
    if fixed_tokens >= budget:
        raise ConfigurationError(
            f"{context.uid}: the instructions alone take {fixed_tokens} tokens, and {model.slug} has {budget} for its "
            f"input (80 % of a window of {model.context_window}).",
            remedy="Correct context_window in models.yaml, or leave this model out.",
        )
    counter = counter_of(model.litellm_model)
    texts = [_read(file, folder, counter) for file in context.files]
    documents, used = _leading(texts, budget - fixed_tokens, counter)
    chunks = context.chunks[: chunk_cap(model)]
    return ModelInput(
        documents=documents,
        chunks=chunks,
        fixed_tokens=fixed_tokens,
        context_tokens=used,
        picture_tokens=sum(picture_tokens(chunk.width, chunk.height) for chunk in chunks),
        budget_tokens=budget,
        tokenizer=counter.name,
        cut=_cut(texts, documents, used, n_chunks=len(context.chunks) - len(chunks)),
    )


@dataclass(frozen=True)
class _Text:
    file: ContextFile
    text: str
    tokens: int

    @property
    def label(self) -> str:
        """The file's name with its document's id, which names of built contexts begin with already."""
        folder = f"{self.file.document_id}/"
        return self.file.name if self.file.name.startswith(folder) else folder + self.file.name

    def document(self, text: str) -> InputDocument:
        return InputDocument(title=self.file.title, document_id=self.file.document_id, name=self.file.name, text=text)


def _read(file: ContextFile, folder: Path, counter: TokenCounter) -> _Text:
    path = folder / file.path
    try:
        text = path.read_bytes().decode("utf-8")  # line ends as they are
    except FileNotFoundError as error:
        raise MissingInputError(
            f"the context file {path} is not there.", remedy="Materialise context_variants for this split again."
        ) from error
    return _Text(file=file, text=text, tokens=counter.count(text))


def _leading(texts: Sequence[_Text], room: int, counter: TokenCounter) -> tuple[tuple[InputDocument, ...], int]:
    """The documents that fit into ``room`` tokens, the last one possibly in part, and the tokens they take."""
    documents: list[InputDocument] = []
    used = 0
    for text in texts:
        if used + text.tokens <= room:
            documents.append(text.document(text.text))
            used += text.tokens
            continue
        part = counter.head(text.text, room - used)
        if part.strip():
            documents.append(text.document(part))
            used += counter.count(part)
        break
    return tuple(documents), used


def _cut(texts: Sequence[_Text], documents: Sequence[InputDocument], used: int, *, n_chunks: int) -> Cut:
    last = texts[len(documents) - 1] if documents else None
    partly = last is not None and len(documents[-1].text) < len(last.text)
    return Cut(
        tokens=sum(text.tokens for text in texts) - used,
        files=tuple(text.label for text in texts[len(documents) :]),
        cut_file=last.label if last is not None and partly else None,
        last_page=_last_page(last.file, documents[-1].text) if last is not None and partly else None,
        chunks=n_chunks,
    )


def _last_page(file: ContextFile, kept: str) -> int | None:
    """Where ``kept`` ends: after the last page mark in it, or on the only page that the file has."""
    marks = _PAGE_MARK.findall(kept)
    if marks:
        return int(marks[-1])
    return file.pages[0] if len(file.pages) == 1 else None

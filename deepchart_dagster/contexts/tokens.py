"""Counting tokens, offline: with a model's own tokenizer where litellm ships it, cl100k otherwise.

litellm's package brings the ranks of OpenAI's encodings and the tokenizers of Anthropic and DeepSeek as files. Which
model has which is litellm's rule (its ``token_counter``), told by the model's name alone, since importing litellm
takes seconds. Tokenizers that would have to be downloaded (Llama, Command R) are not: those models are counted in
cl100k.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from deepchart_dagster.errors import ConfigurationError

if TYPE_CHECKING:
    from tiktoken import Encoding
    from tokenizers import Tokenizer as HuggingFaceTokenizer

ENCODING = "cl100k_base"
_SHIPPED_ENCODINGS = (ENCODING, "o200k_base")
_OPENAI = ("openai", "azure")
_DEEPSEEK = re.compile(r"deepseek[-_.](?:chat[-_.])?v[34]|(?:^|/)deepseek-(?:chat|reasoner|flash)(?::free)?$", re.I)

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LOADING = Lock()
_RANKS_FOLDER = Path("litellm_core_utils", "tokenizers")
# tiktoken's time grows with the square of a run without blanks; longer texts are counted in pieces.
_PIECE_CHARACTERS = 100_000


class _Engine(Protocol):
    """One piece of text. ``head`` is its longest leading part of at most ``room`` tokens, on a token boundary."""

    def count(self, piece: str) -> int: ...

    def head(self, piece: str, room: int) -> str: ...


@dataclass(frozen=True)
class TokenCounter:
    """``name`` says which tokenizer it is: part of the key of what was cut by it. Loaded when first used."""

    name: str

    def count(self, text: str) -> int:
        """Tokens of ``text``; special tokens in it count as plain text."""
        engine = _engine(self.name)
        return sum(engine.count(piece) for piece in _pieces(text))

    def head(self, text: str, limit: int) -> str:
        """The longest leading part of ``text`` of at most ``limit`` tokens, cut on a token boundary."""
        engine = _engine(self.name)
        kept: list[str] = []
        room = max(0, limit)
        for piece in _pieces(text):
            n_tokens = engine.count(piece)
            if n_tokens > room:
                kept.append(engine.head(piece, room))
                break
            kept.append(piece)
            room -= n_tokens
        return "".join(kept)


DEFAULT = TokenCounter(ENCODING)


def counter_of(litellm_model: str) -> TokenCounter:
    """The counter for a model by litellm's name of it, as in ``openai/gpt-5.2``."""
    provider, _, name = litellm_model.rpartition("/")
    if provider.partition("/")[0] in _OPENAI:
        return TokenCounter(_openai_encoding(name))
    if provider.partition("/")[0] == "anthropic" and "claude-3" not in name:
        return TokenCounter("anthropic")
    return TokenCounter("deepseek") if _DEEPSEEK.search(litellm_model) else DEFAULT


def _openai_encoding(name: str) -> str:
    from tiktoken.model import encoding_name_for_model

    try:
        encoding = encoding_name_for_model(name)
    except KeyError:
        return ENCODING
    return encoding if encoding in _SHIPPED_ENCODINGS else ENCODING


def count(text: str) -> int:
    """Tokens of ``text`` in cl100k, for what depends on no model."""
    return DEFAULT.count(text)


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE_CHARACTERS] for at in range(0, len(text), _PIECE_CHARACTERS)]


# What counts


@dataclass(frozen=True)
class _TikToken:
    encoding: Encoding

    def count(self, piece: str) -> int:
        return len(self._encode(piece))

    def head(self, piece: str, room: int) -> str:
        # A token may end inside a character; that character is left out.
        return self.encoding.decode_bytes(self._encode(piece)[:room]).decode("utf-8", "ignore")

    def _encode(self, piece: str) -> list[int]:
        return self.encoding.encode(piece, disallowed_special=())


@dataclass(frozen=True)
class _Shipped:
    """A tokenizer of the tokenizers library. Its offsets are in characters of the text."""

    tokenizer: HuggingFaceTokenizer

    def count(self, piece: str) -> int:
        return len(self.tokenizer.encode(piece, add_special_tokens=False).ids)

    def head(self, piece: str, room: int) -> str:
        offsets = self.tokenizer.encode(piece, add_special_tokens=False).offsets
        end = offsets[room - 1][1] if 0 < room <= len(offsets) else 0
        # Tokens that are parts of one character have its offset: without it the part has room.
        while end and self.count(piece[:end]) > room:
            end -= 1
        return piece[:end]


def _engine(name: str) -> _Engine:
    """Raises ConfigurationError where litellm does not bring its data. Safe in threads."""
    with _LOADING:  # the first callers come from several threads, and loading changes the environment
        return _load(name)


@cache
def _load(name: str) -> _Engine:
    return _LOADERS.get(name, _encoding)(name)


def _encoding(name: str) -> _Engine:
    import tiktoken

    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(_ranks_folder())
    try:
        return _TikToken(tiktoken.get_encoding(name))
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before


def _tokenizer(name: str) -> _Engine:
    from tokenizers import Tokenizer

    path = _ranks_folder() / f"{name}_tokenizer.json"
    if not path.is_file():
        raise ConfigurationError(
            f"the tokenizer {path.name} of litellm is missing.",
            remedy="Install requirements.lock again: scripts/setup.",
        )
    return _Shipped(Tokenizer.from_file(str(path)))


_LOADERS: dict[str, Callable[[str], _Engine]] = {"anthropic": _tokenizer, "deepseek": _tokenizer}


def _ranks_folder() -> Path:
    """Found without importing litellm, which takes seconds."""
    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        folder = Path(place) / _RANKS_FOLDER
        if folder.is_dir():
            return folder
    raise ConfigurationError(
        "the token counter's data (litellm/litellm_core_utils/tokenizers) is missing.",
        remedy="Install the packages of requirements.lock again: scripts/setup.",
    )

"""Counting tokens (cl100k), offline: the encoding's ranks come from the files that litellm ships."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from deepchart_dagster.errors import ConfigurationError

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "cl100k_base"
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LOADING = Lock()
_RANKS_FOLDER = Path("litellm_core_utils", "tokenizers")
# tiktoken's time grows with the square of a run without blanks; longer texts are counted in pieces.
_PIECE_CHARACTERS = 100_000


def count(text: str) -> int:
    """Tokens of ``text``; special tokens in it count as plain text."""
    return sum(len(_encode(piece)) for piece in _pieces(text))


def head(text: str, limit: int) -> str:
    """The longest leading part of ``text`` of at most ``limit`` tokens, cut on a token boundary."""
    kept: list[str] = []
    room = limit
    for piece in _pieces(text):
        tokens = _encode(piece)
        if len(tokens) > room:
            # A token may end inside a character; that character is left out.
            kept.append(encoding().decode_bytes(tokens[: max(0, room)]).decode("utf-8", "ignore"))
            break
        kept.append(piece)
        room -= len(tokens)
    return "".join(kept)


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE_CHARACTERS] for at in range(0, len(text), _PIECE_CHARACTERS)]


def _encode(text: str) -> list[int]:
    return encoding().encode(text, disallowed_special=())


def encoding() -> Encoding:
    """The cl100k encoding. Raises ConfigurationError where litellm does not bring its ranks. Safe in threads."""
    with _LOADING:  # the first callers come from several threads, and loading changes the environment
        return _load()


@cache
def _load() -> Encoding:
    import tiktoken

    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(_ranks_folder())
    try:
        return tiktoken.get_encoding(ENCODING)
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before


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

"""The tokens of a request as far as they can be known before it is sent: offline, with the model's tokenizer where
litellm has one. What the provider counts in the end may differ; see usage_history."""

from __future__ import annotations

import math
from collections.abc import Iterator

from deepchart_dagster.llm.litellm_library import litellm_library
from deepchart_dagster.llm.model import ChatRequest, ImagePart

# The tokenizers' time grows with the square of a run without blanks; longer texts are counted in pieces.
_PIECE_CHARACTERS = 100_000
# Vision models that say how they count take one token for some 750 to 784 pixels.
_PIXELS_PER_TOKEN = 750


def request_tokens(request: ChatRequest) -> int:
    """Takes about a second for a million tokens: not for the event loop's own thread."""
    pictures = sum(_picture_tokens(picture) for picture in request.pictures)
    count = litellm_library().token_counter
    name = request.model.litellm_model
    return pictures + sum(int(count(model=name, text=piece)) for text in request.texts for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE_CHARACTERS] for at in range(0, len(text), _PIECE_CHARACTERS))


def _picture_tokens(picture: ImagePart) -> int:
    return math.ceil(picture.width * picture.height / _PIXELS_PER_TOKEN)

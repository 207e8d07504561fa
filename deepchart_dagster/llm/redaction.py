"""Taking secrets out of text that others wrote (providers repeat keys in their errors)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

REDACTED = "[redacted]"

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
# Shorter values ("1", "true", "low") are no secrets, and would be cut out of every sentence.
_MIN_SECRET_LENGTH = 8
# An answer is changed only for what cannot be a word of its own.
_MIN_KEY_LENGTH = 16

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bBearer\s+(?:\[redacted\]|[^\s\"',;)}\]]+)",
        r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|tgp|fw|r8)[-_][A-Za-z0-9_*.\-]{6,}",
        r"\bAIza[A-Za-z0-9_\-]{10,}",
        r"\bAKIA[A-Z0-9]{12,}",
        r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]+",
        r"(?<=://)[^/\s@]+(?=@)",
        r"(?<=[?&])(?:X-Amz-\w+|X-Goog-\w+|Signature|sig)=[^&\s\"']+",  # a signed address opens what it names
    )
)
_LABELLED = re.compile(
    r"((?:api[-_ ]?key|access[-_ ]?token|authorization|secret|password|[?&]key)(?: provided)?[\"']?\s*[:=]\s*[\"']?)"
    r"(?!\[redacted\])[^\s\"',;&)}\]]+",
    re.IGNORECASE,
)


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """``text`` without anything that looks like a key and without the value of any variable named like one."""
    environ = os.environ if environ is None else environ
    for secret in _secrets(environ):
        text = text.replace(secret, REDACTED)
    for pattern in _PATTERNS:
        text = pattern.sub(REDACTED, text)
    return _LABELLED.sub(rf"\1{REDACTED}", text)


def without_keys(text: str, environ: Mapping[str, str] | None = None) -> str:
    """An answer, changed only where it repeats a key of this environment: some gateways echo what they were sent."""
    for secret in _secrets(os.environ if environ is None else environ):
        if len(secret) >= _MIN_KEY_LENGTH:
            text = text.replace(secret, REDACTED)
    return text


def _secrets(environ: Mapping[str, str]) -> list[str]:
    """As they are and as an address holds them; longest first: one that contains another must go as a whole."""
    found = {
        value.strip()
        for name, value in environ.items()
        if any(word in name.upper() for word in _SECRET_NAMES) and len(value.strip()) >= _MIN_SECRET_LENGTH
    }
    quoted = {quote(secret, safe="", errors="replace") for secret in found}
    return sorted(found | quoted, key=len, reverse=True)

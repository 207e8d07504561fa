"""Taking secrets out of text that others wrote (providers repeat keys in their errors)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

REDACTED = "[redacted]"

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
# Shorter values ("1", "true", "low") are no secrets, and would be cut out of every sentence.
_MIN_SECRET_LENGTH = 8

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


def _secrets(environ: Mapping[str, str]) -> list[str]:
    """Longest first: a secret that contains another one must go as a whole."""
    found = {
        value.strip()
        for name, value in environ.items()
        if any(word in name.upper() for word in _SECRET_NAMES) and len(value.strip()) >= _MIN_SECRET_LENGTH
    }
    return sorted(found, key=len, reverse=True)

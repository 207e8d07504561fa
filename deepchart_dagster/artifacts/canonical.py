"""Canonical JSON and the keys made from it.

An *input key* names everything an output depends on: ``k1-`` + sha256 over the canonical JSON of its
parts. The prefix is the version of this procedure: changing how a key is made changes the prefix, so an
old key can never be mistaken for a new one. Canonical means: UTF-8, members sorted by code point, no
insignificant white space, no NaN or infinity, only string member names. ``1`` and ``1.0`` differ, on
purpose: they are different settings files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import JsonValue

KEY_VERSION = "k1"
_CHUNK_BYTES = 1 << 20


def canonical_json(value: object) -> str:
    """The one text that stands for ``value``. Raises TypeError or ValueError on what JSON cannot hold."""
    return json.dumps(
        jsonable(value),
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    )


def jsonable(value: object) -> JsonValue:
    """``value`` as plain JSON types: tuples become lists, mappings are copied.

    Raises TypeError for a member name that is no string (json.dumps would turn 1 into "1" and let two
    different mappings share a key) and for types without a JSON form.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"member name {name!r} is not a string")
        return {cast(str, name): jsonable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no canonical JSON form")


def in_unicode(text: str) -> str:
    """``text`` with U+FFFD for what UTF-8 cannot hold: half a surrogate pair, a byte of a file's name."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def all_in_unicode(value: JsonValue) -> JsonValue:
    """``value`` with ``in_unicode`` on every string, names of members as well."""
    if isinstance(value, str):
        return in_unicode(value)
    if isinstance(value, list):
        return [all_in_unicode(item) for item in value]
    if isinstance(value, dict):
        return {in_unicode(name): all_in_unicode(member) for name, member in value.items()}
    return value


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))


def sha256_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def content_hash(value: object) -> str:
    """sha256 of the canonical JSON of ``value``."""
    return sha256_text(canonical_json(value))


@dataclass(frozen=True)
class InputKey:
    """A key and the parts it was made from, so that a difference can be explained."""

    digest: str
    parts: dict[str, JsonValue]

    @classmethod
    def of(cls, **parts: object) -> InputKey:
        plain = cast("dict[str, JsonValue]", jsonable(parts))
        return cls(digest=f"{KEY_VERSION}-{content_hash(plain)}", parts=plain)

    def __str__(self) -> str:
        return self.digest


def changed_parts(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> dict[str, tuple[JsonValue, JsonValue]]:
    """Name -> (old, new) for every part that differs; a part that one side lacks reads as None there."""
    return {
        name: (old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if name not in old or name not in new or canonical_json(old[name]) != canonical_json(new[name])
    }

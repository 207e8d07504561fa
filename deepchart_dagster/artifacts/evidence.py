"""What is known of an image, found by the hash of its bytes.

Two kinds: ``pages`` (an image chunk: which document pages it shows, with their text) and ``drawn`` (a
chart: what the program drew). Content-addressed: the same bytes have one entry, whoever made them.
Scripted models and the scripted judge see an image only through this, as a vision model sees pixels.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.files import remove_leftovers, unreadable, write_json
from deepchart_dagster.errors import DamagedFile

_REMEDY = "Delete it and the result that holds this image; the next run makes both again."

EvidenceKind = Literal["pages", "drawn"]


@dataclass(frozen=True)
class EvidenceStore:
    root: Path

    def _path(self, kind: EvidenceKind, sha256: str) -> Path:
        return self.root / "evidence" / kind / sha256[:2] / f"{sha256}.json"

    def put(self, kind: EvidenceKind, sha256: str, value: JsonValue) -> None:
        path = self._path(kind, sha256)
        remove_leftovers(path.parent)  # whoever was killed writing this entry is followed by who writes it again
        write_json(path, value)

    def get(self, kind: EvidenceKind, sha256: str) -> JsonValue:
        """The entry, or None where nothing is known of these bytes. Raises DamagedFile, naming the entry."""
        path = self._path(kind, sha256)
        try:
            value: JsonValue = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(path, error, remedy=_REMEDY) from error
        except (ValueError, RecursionError) as error:
            raise DamagedFile(f"{path} is damaged: {error}.", remedy=_REMEDY) from error
        return value

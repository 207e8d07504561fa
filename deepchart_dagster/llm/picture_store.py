"""Pictures in a user's object store, so that a provider gets addresses instead of megabytes (paper, B.1).

Any place that fsspec knows (``s3://bucket/folder``, ``gs://…``, ``abfs://…``, ``file:///…``), with that library's own
credentials from the environment. A picture's name is the hash of its bytes: the same bytes have the same name and are
uploaded once. A provider reads it below ``public``, the address at which the place can be read from outside; without
one the store signs each address for a limited time, where it can.

Addresses are in no key and in no stored record: how a picture is delivered changes no answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from deepchart_dagster.errors import ConfigurationError, StorageError
from deepchart_dagster.llm.model import ImagePart
from deepchart_dagster.llm.redaction import redact

SIGNED_FOR_S = 7 * 24 * 3600
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


@dataclass(frozen=True)
class PictureStore:
    """Safe in threads. ``place`` is an fsspec address, ``public`` the address under which others read it."""

    place: str
    public: str | None = None
    _known: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def addresses(self, pictures: Iterable[ImagePart]) -> dict[str, str]:
        """sha256 -> address of every one of ``pictures``, uploaded where the place does not have it yet.

        Raises StorageError where it cannot be uploaded, ConfigurationError where no address can be had for it.
        """
        return {picture.sha256: self._address(picture) for picture in pictures}

    def _address(self, picture: ImagePart) -> str:
        name = picture.sha256 + _SUFFIXES.get(picture.media_type, "")
        with self._speaking(name):
            system, folder = self._system()
            path = f"{folder}/{name}"
            self._upload(system, path, picture)
            if self.public:
                return f"{self.public.rstrip('/')}/{name}"
            return self._signed(system, path)

    def _upload(self, system: Any, path: str, picture: ImagePart) -> None:
        if path in self._known:
            return
        # Of two uploads at once both write the same bytes; half of one has another size and is written again.
        if not system.exists(path) or system.size(path) != picture.size:
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            system.pipe_file(path, picture.read())
        with self._lock:
            self._known.add(path)

    def _signed(self, system: Any, path: str) -> str:
        try:
            return str(system.sign(path, expiration=SIGNED_FOR_S))
        except NotImplementedError:
            raise ConfigurationError(
                f"{self.place} cannot sign addresses, and none is given under which providers read it.",
                remedy="Set DEEPCHART_PICTURE_URL to the address of that folder as providers see it.",
            ) from None

    def _system(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # it has no types

        system, folder = url_to_fs(self.place)
        return system, str(folder).rstrip("/")

    @contextmanager
    def _speaking(self, name: str) -> Iterator[None]:
        """Every store's library has exceptions of its own."""
        try:
            yield
        except ConfigurationError:
            raise
        except (ImportError, ValueError) as error:
            raise ConfigurationError(
                f"DEEPCHART_PICTURE_STORE={self.place}: {redact(str(error))}.",
                remedy="Install fsspec's package for it (s3fs, gcsfs, adlfs), or correct the address.",
            ) from error
        except Exception as error:
            raise StorageError(
                f"the picture {name} cannot be put into {self.place}: {type(error).__name__}: {redact(str(error))}.",
                remedy="Check the store and its credentials; without DEEPCHART_PICTURE_STORE pictures go along whole.",
            ) from error

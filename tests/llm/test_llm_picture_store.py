"""Pictures in an object store: uploaded once, named by their bytes, read by the provider at their address."""

from __future__ import annotations

import asyncio
import functools
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest

from deepchart_dagster.artifacts.canonical import sha256_bytes
from deepchart_dagster.errors import ConfigurationError, StorageError
from deepchart_dagster.llm.client import LiteLLMClient
from deepchart_dagster.llm.model import ChatRequest, ImagePart, Message, TextPart
from deepchart_dagster.llm.picture_store import PictureStore
from deepchart_dagster.llm.redaction import redact
from deepchart_dagster.settings import load_settings

CHUNK = ImagePart(data=b"\xff\xd8 eight pages", media_type="image/jpeg", width=3600, height=2400)
OTHER = ImagePart(data=b"\x89PNG a chart", media_type="image/png", width=10, height=10)
MESSAGE = Message(role="user", parts=(TextPart("Look."), CHUNK, OTHER, CHUNK))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The store's folder as providers see it: a real HTTP server on it."""
    (tmp_path / "store").mkdir()
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "store"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_address_leads_to_the_very_bytes(tmp_path: Path, web: str) -> None:
    addresses = PictureStore(f"file://{tmp_path}/store", web).addresses([CHUNK, OTHER])
    assert addresses == {
        CHUNK.sha256: f"{web}/{sha256_bytes(CHUNK.data)}.jpg",
        OTHER.sha256: f"{web}/{sha256_bytes(OTHER.data)}.png",
    }
    with urllib.request.urlopen(addresses[CHUNK.sha256]) as answer:
        assert answer.read() == CHUNK.data


def test_a_picture_is_uploaded_once_and_half_of_one_again(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/store"
    PictureStore(place, "https://pictures.example").addresses([CHUNK, OTHER])
    path = tmp_path / "store" / f"{CHUNK.sha256}.jpg"
    before = path.stat().st_mtime_ns
    PictureStore(place, "https://pictures.example").addresses([CHUNK, OTHER])
    assert path.stat().st_mtime_ns == before
    path.write_bytes(CHUNK.data[:4])
    PictureStore(place, "https://pictures.example").addresses([CHUNK, OTHER])
    assert path.read_bytes() == CHUNK.data


def test_a_provider_gets_addresses_and_the_answer_keeps_its_key(
    tmp_path: Path, web: str, server: Any, make_request: Callable[..., ChatRequest], replies: Any
) -> None:
    server.tell(replies.good("seen"))
    request = replace(make_request(), messages=(MESSAGE,))
    store = PictureStore(f"file://{tmp_path}/store", web)
    answer = asyncio.run(LiteLLMClient(tmp_path / "a", pictures=store).complete(request))
    assert answer.text == "seen"
    parts = server.requests[-1]["messages"][0]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls == [f"{web}/{CHUNK.sha256}.jpg", f"{web}/{OTHER.sha256}.png", f"{web}/{CHUNK.sha256}.jpg"]
    assert answer.key == request.key().digest
    stored = "".join(path.read_text(errors="replace") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert web not in stored, "an address is in no record: it may be signed"


def test_without_a_public_address_the_store_has_to_sign(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="DEEPCHART_PICTURE_URL"):
        PictureStore(f"file://{tmp_path}/store").addresses([CHUNK, OTHER])


def test_a_signed_address_is_the_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = type(fsspec.filesystem("memory"))
    monkeypatch.setattr(memory, "sign", lambda self, path, expiration: f"https://s{path}?sig=abc&for={expiration}")
    addresses = PictureStore("memory://pictures").addresses([CHUNK, OTHER])
    assert addresses[OTHER.sha256] == f"https://s/pictures/{OTHER.sha256}.png?sig=abc&for=604800"


def test_signatures_are_taken_out_of_what_a_provider_repeats() -> None:
    said = redact("cannot fetch https://b.example/x.jpg?X-Amz-Signature=0123abc&X-Amz-Expires=9 (404)")
    assert "0123abc" not in said
    assert said.startswith("cannot fetch https://b.example/x.jpg?")


def test_a_store_that_fails_is_an_error_of_ours_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where a folder should be", encoding="utf-8")
    with pytest.raises(StorageError, match=f"the picture {CHUNK.sha256}.jpg cannot be put into"):
        PictureStore(f"file://{tmp_path}/store", "https://x").addresses([CHUNK, OTHER])


def test_a_place_that_fsspec_does_not_know_is_said() -> None:
    with pytest.raises(ConfigurationError, match="DEEPCHART_PICTURE_STORE=nowhere://x"):
        PictureStore("nowhere://x", "https://x").addresses([CHUNK, OTHER])


@pytest.mark.parametrize("address", ["s3://user:secret-word@bucket/x", "bucket/x", "https://h/x?key=secret-word"])
def test_secrets_in_an_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(picture_store=address)
    assert "secret-word" not in str(refused.value)

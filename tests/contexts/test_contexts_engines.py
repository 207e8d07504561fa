"""The engine ladder: which engine reads a page, what its key says, how a page is drawn."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from contexts_drawing import PROSE, SHARED, needs_shared
from contexts_room import Room

from deepchart_dagster.benchmark.model import Domain
from deepchart_dagster.contexts.engines import (
    EngineConfig,
    NoEngineLeft,
    UnreadablePageError,
    choose_reader,
    engine_identity,
    ocr_reason,
    rapidocr_installed,
)
from deepchart_dagster.contexts.engines.drawing import draw, scale_of
from deepchart_dagster.contexts.engines.identity import ladder
from deepchart_dagster.contexts.engines.paddle_models import make_paddle_models
from deepchart_dagster.contexts.engines.rapid import ocr_words
from deepchart_dagster.contexts.words import numbers_in
from deepchart_dagster.errors import ConfigurationError, UsageError
from deepchart_dagster.settings import load_settings

needs_ocr = pytest.mark.skipif(not rapidocr_installed(), reason="needs the ocr extra")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paddle") / "models"
    make_paddle_models(folder)
    return folder


def page_of(text: str) -> pymupdf.Page:
    page = pymupdf.open().new_page()
    page.insert_textbox(pymupdf.Rect(50, 50, 550, 700), text, fontsize=10)
    return page


def shifted(text: str) -> str:
    """Glyph numbers taken for characters: 29 too low, as in most fonts that lost their map."""
    return "".join(chr(ord(letter) - 29) if letter.isalpha() else letter for letter in text)


@needs_ocr
def test_the_ladder_is_what_is_configured_and_a_named_engine_stands_alone(models: Path) -> None:
    config = EngineConfig(paddle_models=models, vl_server_url="http://127.0.0.1:1/v1")
    assert ladder(config) == ("paddleocr-vl", "paddleocr", "rapidocr", "text-layer")
    assert ladder(EngineConfig()) == ("rapidocr", "text-layer")
    assert ladder(EngineConfig(name="text-layer", paddle_models=models)) == ("text-layer",)
    with pytest.raises(NoEngineLeft, match="text-layer"):
        choose_reader(EngineConfig(name="text-layer"), without=frozenset({"text-layer"}))
    with pytest.raises(NoEngineLeft):
        choose_reader(EngineConfig(), without=frozenset({"rapidocr", "text-layer"}))


@needs_ocr
def test_what_failed_on_a_page_is_followed_by_the_next_engine(models: Path) -> None:
    config = EngineConfig(paddle_models=models, vl_server_url="http://127.0.0.1:1/v1")
    typed, scan = page_of(PROSE), page_of("")
    scan.insert_image(scan.rect, pixmap=typed.get_pixmap(dpi=50))

    def engine(page: pymupdf.Page, *without: str) -> str:
        return choose_reader(config, without=frozenset(without)).route(page).name

    assert engine(typed) == "text-layer"
    assert engine(typed, "text-layer") == "paddleocr-vl"
    assert engine(scan) == "paddleocr-vl"
    assert engine(scan, "paddleocr-vl") == "paddleocr"
    assert engine(scan, "paddleocr-vl", "paddleocr") == "rapidocr"
    assert engine(scan, "paddleocr-vl", "paddleocr", "rapidocr") == "text-layer"


@needs_ocr
def test_another_model_file_engine_or_drawing_is_another_key(room: Room, tmp_path: Path, models: Path) -> None:
    pdf = tmp_path / "a.pdf"
    page_of(PROSE).parent.save(pdf)
    document = room.documents.add(pdf, Domain.FINANCE)

    def key(config: EngineConfig) -> str:
        room.raw.run(document.id)
        stage = room.ocr()
        return type(stage)(stage.store, stage.documents, engine=config).plan([document.id])[0].key.digest

    config = EngineConfig(name="paddleocr", paddle_models=models)
    first = key(config)
    assert key(config.model_copy(update={"threads": 1, "vl_timeout_s": 5.0})) == first
    others = [
        key(config.model_copy(update={"dpi": 151})),
        key(config.model_copy(update={"max_pixels": 1_000_000})),
        key(EngineConfig(name="rapidocr")),
        key(EngineConfig(name="text-layer")),
        key(EngineConfig(name="paddleocr-vl", vl_server_url="http://a/v1")),
        key(EngineConfig(name="paddleocr-vl", vl_server_url="http://a/v1", vl_model="other")),
    ]
    settings = models / "det" / "inference.yml"
    kept = settings.read_text(encoding="utf-8")
    settings.write_text(kept.replace("0.6", "0.61"), encoding="utf-8")
    others.append(key(config))
    settings.write_text(kept, encoding="utf-8")
    assert len({first, *others}) == len(others) + 1
    assert key(config) == first
    moved = EngineConfig(name="paddleocr-vl", vl_server_url="http://b/v1")
    assert key(moved) == others[4]


def test_model_folders_that_are_not_there_are_a_line(tmp_path: Path) -> None:
    if not rapidocr_installed():
        pytest.skip("needs the ocr extra")
    with pytest.raises(ConfigurationError, match=r"DEEPCHART_PADDLE_MODELS=.*det holds no model.*make-paddle-models"):
        engine_identity(EngineConfig(paddle_models=tmp_path))
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="exists already"):
        make_paddle_models(tmp_path)


def test_a_page_is_drawn_within_the_pixel_cap() -> None:
    assert scale_of(612, 792, 150, 16_000_000) == pytest.approx(150 / 72)
    huge = scale_of(14400, 14400, 150, 16_000_000)
    assert 14400 * huge * 14400 * huge == pytest.approx(16_000_000)
    with pytest.raises(UnreadablePageError, match="nothing to draw"):
        scale_of(0, 10, 150, 1000)
    pdf = pymupdf.open()
    drawn = draw(pdf.new_page(width=14400, height=14400), 150, 1_000_000)
    rows, columns, channels = drawn.pixels.shape
    assert rows * columns <= 1_010_000
    assert channels == 3
    assert columns * drawn.points_per_pixel == pytest.approx(14400, rel=0.01)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE * 3, None),
        ("(cid:12)(cid:7)(cid:99) " * 20, "stand for nothing"),
        (shifted(PROSE.lower() * 3), "no language"),
        ("352,755 1,234 56 " * 20, None),
    ],
)
def test_a_text_layer_of_glyphs_without_meaning_goes_to_ocr(text: str, reason: str | None) -> None:
    found = ocr_reason(page_of(text))
    assert found is None if reason is None else reason in str(found)


@needs_ocr
@needs_shared
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["paddleocr", "rapidocr"])
def test_the_numbers_of_a_statement_are_read_without_a_network(
    name: str, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    def refuse(*args: object) -> None:
        raise AssertionError(f"the engine tried to connect: {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    page = pymupdf.open(SHARED / "pdfs" / "10k_apple_2022.pdf")[33]
    typed = sorted(number for word in page.get_text("words") for number in numbers_in(word[4]))
    reader = choose_reader(EngineConfig.model_validate({"name": name, "paddle_models": models, "threads": 1}))
    engine = reader.route(page)
    assert engine.kind == "words"
    read = sorted(number for word in engine.words(page) for number in numbers_in(word.text))
    assert len(typed) == 65
    assert read == typed


@pytest.mark.parametrize("url", ["http://user:hunter2@host/v1", "host:8000", "http://host/v1?key=hunter2"])
def test_a_server_address_that_holds_a_secret_is_refused_without_repeating_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPCHART_VL_SERVER_URL", url)
    with pytest.raises(ConfigurationError, match="DEEPCHART_VL_SERVER_URL") as caught:
        load_settings()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("read", ["S", "s", "§", "$"])
def test_a_dollar_sign_that_was_read_as_a_letter_is_one_only_left_of_a_value(read: str) -> None:
    boxes = [[(x, 10), (x + width, 10), (x + width, 22), (x, 22)] for x, width in ((0, 60), (100, 8), (120, 40))]
    assert [word.text for word in ocr_words(boxes, ["Net sales", read, "19,934"], 1.0)][-2:] == ["$", "19,934"]
    assert [word.text for word in ocr_words(boxes, ["Gruppe", read, "Aktien"], 1.0)][-2:] == [read, "Aktien"]


def test_a_dollar_sign_at_the_end_of_a_value_is_the_next_values() -> None:
    boxes = [[(x, 10), (x + width, 10), (x + width, 22), (x, 22)] for x, width in ((0, 60), (100, 36), (180, 30))]
    words = ocr_words(boxes, ["Basic", "20.68$", "23.46"], 1.0)
    assert [(word.text, word.x0, word.x1) for word in words[1:]] == [
        ("20.68", 100, 130), ("$", 130, 136), ("23.46", 180, 210),
    ]  # fmt: skip
    assert [word.text for word in ocr_words(boxes, ["in", "US$", "23.46"], 1.0)] == ["in", "US$", "23.46"]

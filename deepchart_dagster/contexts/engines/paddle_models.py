"""Model folders for paddleocr from the models in rapidocr's wheel: the same PP-OCR networks, described for paddle.

    DIR/det/inference.onnx  inference.yml      text detection
    DIR/rec/inference.onnx  inference.yml      text recognition, with its alphabet

An inference.yml says how a picture is prepared for the network and how its answer is read (paddlex 3).
"""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from deepchart_dagster.artifacts.files import new_folder, write_text
from deepchart_dagster.contexts.engines.base import INSTALL_OCR
from deepchart_dagster.errors import ConfigurationError, UsageError

_DETECTION = re.compile(r"(?P<family>PP-OCRv\d+)_det_(?P<size>\w+)\.onnx")
_IMAGENET_MEAN, _IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def make_paddle_models(folder: Path) -> tuple[str, str]:
    """Writes both folders below ``folder``, which must be new; returns the names of the two models.

    Raises ConfigurationError where rapidocr's wheel is not there or holds no such models, UsageError for a folder
    that exists.
    """
    if folder.exists() and any(folder.iterdir() if folder.is_dir() else (folder,)):
        raise UsageError(f"{folder} exists already.", remedy="Name a new folder.")
    detection, recognition = _wheel_models()
    names = _paddle_name(detection), _paddle_name(recognition)
    with new_folder(folder) as made:
        _write(made / "det", detection, _detection_settings(names[0]))
        _write(made / "rec", recognition, _recognition_settings(names[1], _alphabet(recognition)))
    return names


def _wheel_models() -> tuple[Path, Path]:
    package = find_spec("rapidocr")
    if package is None or package.origin is None:
        raise ConfigurationError("the models come from rapidocr's wheel, which is not installed.", remedy=INSTALL_OCR)
    folder = Path(package.origin).parent / "models"
    for detection in sorted(folder.glob("*.onnx"), reverse=True):
        match = _DETECTION.fullmatch(detection.name)
        recognition = detection.with_name(detection.name.replace("_det_", "_rec_"))
        if match and recognition.is_file():
            return detection, recognition
    raise ConfigurationError(
        f"{folder} has no pair PP-OCRv…_det_… and PP-OCRv…_rec_… .onnx.",
        remedy="Install rapidocr 3.10, or take model folders from PaddleOCR's own releases.",
    )


def _paddle_name(model: Path) -> str:
    """``PP-OCRv6_det_small.onnx`` is ``PP-OCRv6_small_det`` to paddle."""
    family, part, size = model.stem.split("_")
    return f"{family}_{size}_{part}"


def _alphabet(recognition: Path) -> list[str]:
    """The characters that the network can answer, in its order: they are written in the file itself."""
    from importlib import import_module

    runtime = import_module("onnxruntime")
    session = runtime.InferenceSession(str(recognition), providers=["CPUExecutionProvider"])
    written = session.get_modelmeta().custom_metadata_map.get("character", "")
    characters = str(written).split("\n")
    if characters and not characters[-1]:
        characters.pop()
    if not characters:
        raise ConfigurationError(
            f"{recognition} does not say which characters it knows.", remedy="Install rapidocr 3.10 or later."
        )
    return characters


def _write(folder: Path, model: Path, settings: dict[str, Any]) -> None:
    folder.mkdir()
    shutil.copyfile(model, folder / "inference.onnx")
    write_text(folder / "inference.yml", yaml.safe_dump(settings, allow_unicode=True, sort_keys=False))


def _detection_settings(name: str) -> dict[str, Any]:
    return {
        "Global": {"model_name": name},
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"DetResizeForTest": {"resize_long": 960}},
                {"NormalizeImage": {"mean": _IMAGENET_MEAN, "std": _IMAGENET_STD, "scale": "1./255.", "order": "hwc"}},
                {"ToCHWImage": None},
                {"KeepKeys": {"keep_keys": ["image", "shape"]}},
            ]
        },
        "PostProcess": {
            "name": "DBPostProcess",
            "thresh": 0.3,
            "box_thresh": 0.6,
            "max_candidates": 1000,
            "unclip_ratio": 1.5,
        },
    }


def _recognition_settings(name: str, alphabet: list[str]) -> dict[str, Any]:
    return {
        "Global": {"model_name": name},
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"RecResizeImg": {"image_shape": [3, 48, 320]}},
                {"KeepKeys": {"keep_keys": ["image"]}},
            ]
        },
        "PostProcess": {"name": "CTCLabelDecode", "character_dict": alphabet},
    }

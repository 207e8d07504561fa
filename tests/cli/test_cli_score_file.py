"""``deepchart score-file``: every reference of the sample scores 1.0 against itself, for each stage that has one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_command import deepchart, process

from tests.conftest import SHARED

REFERENCES = SHARED / "upstream-sample/references"
D_SRC = sorted(REFERENCES.rglob("d_src.*"))
D_DER = sorted(REFERENCES.rglob("d_der.json"))


def _name(path: Path) -> str:
    return str(path.relative_to(REFERENCES))


def test_the_sample_has_every_format() -> None:
    if not REFERENCES.is_dir():
        pytest.skip("no shared material beside the project")
    assert sorted(path.suffix for path in D_SRC) == [".csv", ".csv", ".csv", ".json", ".md", ".md"]
    assert len(D_DER) == 6


@pytest.mark.parametrize("path", [*D_SRC, *D_DER], ids=_name)
def test_a_reference_against_itself_is_exactly_one(path: Path) -> None:
    side = path.stem.removeprefix("d_")
    ran = deepchart("score-file", f"--reference-{side}", path, "--prediction", path, "--json")
    assert (ran.code, ran.err) == (0, "")
    score = ran.json
    assert set(score) == {"src", "der", "diagnosis"}
    assert score["der" if side == "src" else "src"] is None
    part = score[side]
    assert (part["precision"], part["recall"], part["f1"]) == (1.0, 1.0, 1.0)
    assert part["n_reference"] == part["n_predicted"] == part["n_matched"] > 0
    assert score["diagnosis"] == []


@pytest.mark.parametrize("folder", sorted({path.parent for path in D_DER}), ids=_name)
def test_both_references_at_once(folder: Path) -> None:
    """D_src in its own format as the prediction: 1.0 at the source stage, and a score for the other one too."""
    (d_src,) = folder.glob("d_src.*")
    ran = deepchart(
        "score-file",
        "--reference-src",
        d_src,
        "--reference-der",
        folder / "d_der.json",
        "--prediction",
        d_src,
        "--json",
    )
    assert ran.code == 0
    assert ran.json["src"]["f1"] == 1.0
    assert set(ran.json["der"]) == {"precision", "recall", "f1", "n_reference", "n_predicted", "n_matched"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "src": {"revenue": [100, 200], "cost": 50},
        "der": {"margin": 0.25},
        "state": {"src_data": {"revenue": [100, 250], "cost": 50}, "der_data": {"margin": 0.25, "growth": 2}},
    }
    paths = {name: tmp_path / f"{name}.json" for name in contents}
    for name, path in paths.items():
        path.write_text(json.dumps(contents[name]), encoding="utf-8")
    return paths


def test_counts_by_hand(files: dict[str, Path]) -> None:
    """Source: 2 of 3 on both sides. Derived: the one value is found, one of two predictions is too many."""
    arguments = ["--reference-src", files["src"], "--reference-der", files["der"], "--prediction", files["state"]]
    ran = process("score-file", *arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    src, der = ran.json["src"], ran.json["der"]
    assert src == {
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(2 / 3),
        "f1": pytest.approx(2 / 3),
        "n_reference": 3,
        "n_predicted": 3,
        "n_matched": 2,
    }
    assert der == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
        "n_reference": 1,
        "n_predicted": 2,
        "n_matched": 1,
    }
    assert {one["side"] for one in ran.json["diagnosis"]} == {"src", "der"}
    assert deepchart("score-file", *arguments).out.splitlines() == [
        "src: F1 0.6667  precision 0.6667  recall 0.6667  (2 matched, 3 in the reference, 3 predicted)",
        "der: F1 0.6667  precision 0.5000  recall 1.0000  (1 matched, 1 in the reference, 2 predicted)",
    ]


def test_the_published_harness_rules_are_shown_on_request(sample: Path) -> None:
    """design/UPSTREAM.md: by these rules a perfect finance/4 scores 0.000 at the source stage."""
    folder = sample / "references/finance/4"
    arguments = ["score-file", "--reference-src", folder / "d_src.csv", "--prediction", folder / "d_src.csv", "--json"]
    assert deepchart(*arguments).json["src"]["f1"] == 1.0
    assert deepchart(*arguments, "--scorer", "upstream").json["src"]["f1"] == 0.0


def test_no_reference_at_all(files: dict[str, Path]) -> None:
    ran = deepchart("score-file", "--prediction", files["state"])
    assert ran.code == 2
    assert ran.complaint == "there is no reference. Give --reference-src, --reference-der, or both."


@pytest.mark.parametrize("which", ["--reference-src", "--prediction"])
def test_a_file_that_is_not_there(files: dict[str, Path], tmp_path: Path, which: str) -> None:
    gone = tmp_path / "gone.json"
    given = {"--reference-src": files["src"], "--prediction": files["state"], which: gone}
    ran = deepchart("score-file", *(part for pair in given.items() for part in pair), "--json")
    assert ran.code == 2
    assert str(gone) in ran.complaint
    assert ran.json["error"]["kind"] == "UsageError"


def test_a_reference_that_cannot_be_read(files: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": 1,', encoding="utf-8")
    ran = deepchart("score-file", "--reference-src", broken, "--prediction", files["state"])
    assert ran.code == 2
    assert str(broken) in ran.complaint


def test_a_prediction_that_is_no_state_scores_zero(files: dict[str, Path], tmp_path: Path) -> None:
    """The model's failure, not a wrong use of the command: exit code 0 and the reason in the diagnosis."""
    broken = tmp_path / "state.json"
    broken.write_text("Traceback (most recent call last):", encoding="utf-8")
    ran = deepchart("score-file", "--reference-src", files["src"], "--prediction", broken, "--json")
    assert ran.code == 0
    assert (ran.json["src"]["f1"], ran.json["src"]["n_reference"]) == (0.0, 3)
    assert ran.json["diagnosis"] != []

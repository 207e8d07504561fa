"""The diagnosis names what the scripted model ``miscalculates`` does to derived data of the mini benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from deepchart_dagster.benchmark.mini.catalogue import folder_of
from deepchart_dagster.llm.scripted.miscalculates import MiscalculationKind, changes_values, wrong_derivation
from deepchart_dagster.llm.scripted.recipes import KnownQuery, known_queries
from deepchart_dagster.scoring.diagnosis import Evidence, Side, diagnose
from deepchart_dagster.scoring.fidelity import compare

CLASSES = {
    "wrong_sign": {"sign"},
    "percent_fraction": {"percent"},
    "wrong_denominator": {"same_factor"},
    "forgotten_entry": {"missing_years", "missing_entities"},
    "reading_order": {"top_k"},
}
# Their programs keep source data in the shape that their recipes read.
QUERIES = ("finance-halden-igr", "finance-marrow-ccc", "ecosystem-capital-efficiency", "ecosystem-rank-gap")
NAMED = 0.95


def reference_state(known: KnownQuery, folder: Path) -> dict[str, Any]:
    """J as the query's own program leaves it."""
    out = folder / "state.json"
    subprocess.run([sys.executable, folder_of(known.query) / "stage1.py", out], check=True)
    state: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return state


def derived(program: str, source: dict[str, Any]) -> Any:
    names: dict[str, Any] = {}
    exec(program, names)
    return names["derive"](source)


@pytest.mark.parametrize("name", QUERIES)
def test_every_fault_is_named_in_nearly_all_values(name: str, tmp_path: Path) -> None:
    known = next(known for known in known_queries() if folder_of(known.query).name == name)
    state, recipe = reference_state(known, tmp_path), known.recipe.derive.rstrip()
    reference = Side.of(state["der_data"])
    kinds = [kind for kind in get_args(MiscalculationKind) if changes_values(kind, recipe, state["src_data"])]
    assert len(kinds) >= 4
    for kind in kinds:
        predicted = derived(wrong_derivation(kind, recipe), state["src_data"])
        pairs = compare([leaf.value for leaf in reference.leaves], predicted).pairs

        found = diagnose(reference, Side.of(predicted), pairs, Evidence(known.query.chart_purpose))

        assert found, kind
        assert sum(one.kind in CLASSES[kind] for one in found) >= NAMED * len(found), kind

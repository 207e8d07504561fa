"""What instances are scored against: D_src, D_der and the reference chart (paper, section 3.2).

A benchmark that ships its references has them copied, as they are: no reference is ever edited. Data that
a record names but that is not there is an error of that query; a chart image or a program that is not
there is listed under ``missing`` and stops nothing (a chart must be a PNG to count).

Where the programs are the truth (the mini benchmark) they are run, as a model's would be:

* stage 1 leaves J; its src_data and der_data become d_src.json and d_der.json;
* stage 2 takes the path of its output as its only argument, like all published programs, so it carries
  its data: the token ``__J__`` in its source (``J = __J__``) is replaced by J as a Python literal.

A reference program that fails is an error, ours, and never a failure.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from deepchart_dagster.artifacts.bounded_json import decoded, load_json
from deepchart_dagster.artifacts.canonical import InputKey, sha256_file, sha256_text
from deepchart_dagster.artifacts.evidence import EvidenceStore
from deepchart_dagster.artifacts.files import storage_errors, write_bytes, write_json
from deepchart_dagster.artifacts.inputs import read_output, usable_result
from deepchart_dagster.artifacts.results import InstanceResult, Outcome
from deepchart_dagster.artifacts.steps import Progress, Step, StepSummary, Work, run_step
from deepchart_dagster.artifacts.store import ArtifactStore
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import CodeType, Query, Split
from deepchart_dagster.benchmark.state import J_TOKEN, Side, content_of, invalidity, load_state, with_state
from deepchart_dagster.errors import BenchmarkFormatError, DamagedFile, DeepChartError, MissingInputError, UpstreamError
from deepchart_dagster.execution.images import PNG_HEADER_BYTES, png_size
from deepchart_dagster.execution.model import Limits, Program, ProgramRunner, RunResult, RunStatus
from deepchart_dagster.scoring.fidelity import compare
from deepchart_dagster.scoring.tables import REFERENCE_MAX_BYTES, read_bounded, read_reference
from deepchart_dagster.stage_versions import REFERENCE_VERSION

ASSET = "references"
CHART_NAME = "chart.png"
DRAWN_NAME = "drawn.json"
# Queries at work at once; how many programs run at once is for the runner to say.
_CONCURRENCY = 16
_SIDES: dict[str, Side] = {"d_src": "src", "d_der": "der"}
_CORRECT_IT = "Correct it in the source and import the benchmark again."
_MADE = ("d_src.json", "d_der.json", CHART_NAME)


@dataclass(frozen=True)
class ReferenceStage:
    """Copies or makes references. Partition (split,), scope (): the variants of a query share them.

    The limits are in no key: a program that ends within them leaves the same output under any others.
    """

    store: ArtifactStore
    library: Library
    runner: ProgramRunner
    evidence: EvidenceStore
    stage1_limits: Limits
    chart_limits: Limits

    def plan(self, split: Split) -> list[Work]:
        return [self._work(instance.query) for instance in self.library.instances(split)]

    def run(self, split: Split, progress: Progress | None = None) -> StepSummary:
        step = Step(asset=ASSET, partition=(split.value,), scope=(), shared=True)
        summary = run_step(self.store, step, self.plan(split), concurrency=_CONCURRENCY, progress=progress)
        for result in summary.results:
            self._keep_evidence(result)
        return summary

    def _work(self, query: Query) -> Work:
        try:
            with storage_errors(self.library.folder(query.benchmark), "read"):
                executed = query.references.programs_are_truth
                making = _Executed.of(query, self) if executed else _Copied.of(query, self.library)
                key = InputKey.of(version=REFERENCE_VERSION, **making.identity())
        except DeepChartError as error:
            return Work(query.uid, InputKey.of(version=REFERENCE_VERSION), blocked=error)
        return Work(query.uid, key, compute=making.compute)

    def _keep_evidence(self, result: InstanceResult) -> None:
        """What a chart draws is known by its bytes. Done for reused results too: evidence may have been lost."""
        chart = result.files.get(CHART_NAME)
        if chart is None or DRAWN_NAME not in result.files or self._is_known(chart.sha256):
            return
        try:
            drawn = read_output(self.store, result, DRAWN_NAME)
        except UpstreamError:
            return  # edited by hand: no evidence for this chart; deepchart verify reports the file
        self.evidence.put("drawn", chart.sha256, json.loads(drawn))

    def _is_known(self, chart_sha256: str) -> bool:
        try:
            return self.evidence.get("drawn", chart_sha256) is not None
        except DamagedFile:
            return False


@dataclass(frozen=True)
class _Copied:
    """References that the benchmark ships: stored name -> file, and the paths of the record that lead nowhere."""

    files: dict[str, Path]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, query: Query, library: Library) -> _Copied:
        """Raises MissingInputError for data that is named and not there."""
        named = query.references
        files = {
            stem + Path(relative).suffix.lower(): library.file(query, relative)
            for stem, relative in (("d_src", named.d_src), ("d_der", named.d_der))
            if relative
        }
        programs = (named.stage1, named.stage2_python, named.stage2_html)
        missing = [path for path in programs if path and _if_there(library, query, path) is None]
        chart = _if_there(library, query, named.chart_image) if named.chart_image else None
        if chart and _is_png(chart):
            files[CHART_NAME] = chart
        elif named.chart_image:
            missing.append(named.chart_image)
        return cls(files=files, missing=tuple(missing))

    def identity(self) -> dict[str, JsonValue]:
        return {
            "files": {name: sha256_file(path) for name, path in self.files.items()},
            "missing": list(self.missing),
        }

    async def compute(self, folder: Path) -> Outcome:
        """Raises BenchmarkFormatError, naming the file, for data that cannot be read."""
        for name, path in self.files.items():
            write_bytes(folder / name, read_bounded(path))
        names = {name: str(path) for name, path in self.files.items()}
        return Outcome(value=_value(names, folder, self.missing))


def _is_png(path: Path) -> bool:
    with path.open("rb") as stream:
        return png_size(stream.read(PNG_HEADER_BYTES)) is not None


def _if_there(library: Library, query: Query, relative: str) -> Path | None:
    try:
        return library.file(query, relative)
    except MissingInputError:
        return None


@dataclass(frozen=True)
class _Executed:
    """References that programs make. ``stage1`` and ``stage2`` are their sources."""

    uid: str
    stage1: str = field(repr=False)
    stage2: str = field(repr=False)
    stage: ReferenceStage = field(repr=False)

    @classmethod
    def of(cls, query: Query, stage: ReferenceStage) -> _Executed:
        """Raises MissingInputError or BenchmarkFormatError where there is no program to run."""
        named = query.references
        if named.stage1 is None or named.stage2_python is None:
            raise BenchmarkFormatError(
                f"{query.uid}: its programs are the truth, but it does not name both.",
                remedy="Name stage1 and stage2_python in the record.",
            )
        stage1, stage2 = (_source(stage.library.file(query, path)) for path in (named.stage1, named.stage2_python))
        if J_TOKEN not in stage2:
            raise BenchmarkFormatError(
                f"{query.uid}: {named.stage2_python} has no {J_TOKEN}.", remedy=f"Let it begin with J = {J_TOKEN}."
            )
        return cls(uid=query.uid, stage1=stage1, stage2=stage2, stage=stage)

    def identity(self) -> dict[str, JsonValue]:
        runner = self.stage.runner
        return {
            "stage1": sha256_text(self.stage1),
            "stage2": sha256_text(self.stage2),
            "runner": [runner.identity(1, CodeType.PYTHON), runner.identity(2, CodeType.PYTHON)],
        }

    async def compute(self, folder: Path) -> Outcome:
        """Raises BenchmarkFormatError for a program that fails, SandboxUnavailable where none can be run."""
        extracted = await self._run(1, self.stage1, self.stage.stage1_limits)
        state = self._state(extracted.output or b"")
        for side in _SIDES.values():
            write_json(folder / f"d_{side}.json", content_of(state, side))
        chart = await self._run(2, with_state(self.stage2, state), self.stage.chart_limits)
        write_bytes(folder / CHART_NAME, chart.output or b"")
        if chart.drawn is not None:
            write_json(folder / DRAWN_NAME, chart.drawn)
        return Outcome(
            value=_value(dict.fromkeys(_MADE, ""), folder, () if chart.drawn is not None else (DRAWN_NAME,)),
            observations={"stage1_wall_s": extracted.wall_s, "chart_wall_s": chart.wall_s, "tier": chart.tier},
        )

    async def _run(self, stage: Literal[1, 2], source: str, limits: Limits) -> RunResult:
        program = Program(source=source, stage=stage, backend=CodeType.PYTHON, limits=limits)
        result = await asyncio.to_thread(self.stage.runner.run, program)
        if result.status is not RunStatus.OK:
            said = (result.stderr_tail.strip() or result.message or "nothing on stderr").splitlines()[-1]
            ended = f"{result.status.value}: {said.rstrip('.')}."
            raise BenchmarkFormatError(
                f"{self.uid}: its stage-{stage} reference program ended with {ended}",
                remedy="Correct that program and import the benchmark again.",
            )
        return result

    def _state(self, output: bytes) -> object:
        """J, checked as a model's would be. Raises BenchmarkFormatError."""
        state = load_state(output, name=f"what the stage-1 reference program of {self.uid} left")
        problem = invalidity(state, needs_derived=True)
        if problem:
            raise BenchmarkFormatError(
                f"{self.uid}: its stage-1 reference program left no valid J: {problem.kind}.",
                remedy="Correct that program and import the benchmark again.",
            )
        return state


def _source(path: Path) -> str:
    return decoded(read_bounded(path), name=str(path))


def _value(files: Mapping[str, str], folder: Path, missing: Iterable[str]) -> dict[str, JsonValue]:
    """Counts of reference values (None: no reference on that side), and what there is of the chart. ``files``: stored
    name -> what messages call it (the copy in ``folder`` is gone when they are read); empty: as it is stored."""
    counts: dict[Side, int | None] = {"src": None, "der": None}
    for name, shown in files.items():
        side = _SIDES.get(Path(name).stem)
        if side is not None:
            values = read_reference(folder / name, Path(name).suffix, side, name=shown, remedy=_CORRECT_IT)
            counts[side] = None if values is None else len(values)
    return {
        "n_source": counts["src"],
        "n_derived": counts["der"],
        "has_chart": CHART_NAME in files,
        "missing": list(missing),
    }


@dataclass(frozen=True)
class Finding:
    """Something wrong with a stored reference. ``kind``: no_numbers, not_itself."""

    uid: str
    side: Side
    kind: Literal["no_numbers", "not_itself"]
    message: str


def self_check(store: ArtifactStore, uid: str) -> list[Finding]:
    """Score each side of a query's stored references against itself, through a J made of its values.

    Anything but exactly 1.0 is a finding, and so is reference data without a number. Raises UpstreamError
    where the references have not been made.
    """
    result = usable_result(store, ASSET, (), uid)
    findings: list[Finding] = []
    for name in result.files:
        side = _SIDES.get(Path(name).stem)
        if side is not None:
            data = read_output(store, result, name)
            findings += _check_side(uid, side, read_reference(data, Path(name).suffix, side))
    return findings


def _check_side(uid: str, side: Side, values: list[float] | None) -> list[Finding]:
    if values is None:
        return []
    if not values:
        return [Finding(uid, side, "no_numbers", "the reference data holds no number")]
    written = json.dumps({f"{side}_data": values}).encode()
    state = load_json(written, name=f"the {side} reference", max_bytes=REFERENCE_MAX_BYTES)
    fidelity = compare(values, content_of(state, side)).fidelity
    if fidelity is None or fidelity.f1 != 1.0:
        return [Finding(uid, side, "not_itself", f"scored against itself it has F1 {fidelity and fidelity.f1}")]
    return []

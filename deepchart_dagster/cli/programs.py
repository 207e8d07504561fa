"""``deepchart run-program``: one program, exactly as the pipeline would run it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from deepchart_dagster.artifacts.files import write_bytes, write_json
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import UsageError
from deepchart_dagster.execution.model import Program, RunResult, RunStatus


@click.command("run-program", short_help="Run one program in the sandbox.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--stage", type=click.Choice(["1", "2"]), required=True, help="1 leaves JSON, 2 leaves a chart.")
@click.option("--backend", type=click.Choice([kind.value for kind in CodeType]), default="python", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the JSON or PNG goes.")
@click.option("--timeout", type=float, help="Seconds; default: 60 for stage 1, 120 for a chart.")
@click.option("--sandbox", help="auto, namespaces, landlock, trusted")
@common_options
def command(
    file: Path,
    stage: str,
    backend: str,
    out: Path,
    timeout: float | None,
    sandbox: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Run one program in the sandbox; a program's failure is a result, not an error.

    Example: deepchart run-program chart.py --stage 2 --backend python --out chart.png
    """
    if not file.is_file():
        raise UsageError(f"{file} is not a file.", remedy="Give the path of a Python or HTML program.")
    number: Literal[1, 2] = 1 if stage == "1" else 2
    with workbench(storage, sandbox=sandbox) as bench:
        limits = bench.stage1_limits if number == 1 else bench.chart_limits
        if timeout is not None:
            limits = type(limits)(wall_s=timeout)
        source = file.read_text(encoding="utf-8", errors="replace")
        result = bench.runner.run(Program(source=source, stage=number, backend=CodeType(backend), limits=limits))
    drawn = _save(result, out)
    emit(
        as_json,
        _as_json(result, drawn),
        f"{result.status.value} (exit code {result.exit_code}, {result.wall_s:.2f} s, tier {result.tier}) "
        f"{result.message}\n{result.stderr_tail}".strip(),
    )
    if result.status is RunStatus.REFUSED:
        raise click.exceptions.Exit(1)


def _save(result: RunResult, out: Path) -> Path | None:
    if result.output is not None:
        write_bytes(out, result.output)
    if result.drawn is None:
        return None
    drawn = out.with_suffix(".drawn.json")
    write_json(drawn, result.drawn)
    return drawn


def _as_json(result: RunResult, drawn: Path | None) -> dict[str, object]:
    return {
        "status": result.status.value,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "wall_s": result.wall_s,
        "cpu_s": result.cpu_s,
        "max_rss_mb": result.max_rss_mb,
        "tier": result.tier,
        "message": result.message,
        "stderr_tail": result.stderr_tail,
        "drawn": str(drawn) if drawn else None,
        "versions": result.versions,
    }

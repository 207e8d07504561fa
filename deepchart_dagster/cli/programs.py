"""``deepchart run-program``: one program, exactly as the pipeline would run it."""

from __future__ import annotations

import math
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

import click

from deepchart_dagster.artifacts.files import write_bytes, write_json
from deepchart_dagster.benchmark.model import CodeType
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import UsageError
from deepchart_dagster.execution.model import Program, RunResult, RunStatus
from deepchart_dagster.settings import MAX_TIMEOUT_S, SandboxTier


def _finite(context: click.Context, parameter: click.Parameter, seconds: float | None) -> float | None:
    if seconds is not None and not math.isfinite(seconds):
        raise click.BadParameter(f"{seconds} is no number of seconds.")
    return seconds


@click.command("run-program", short_help="Run one program in the sandbox.")
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option("--stage", type=click.Choice(["1", "2"]), required=True, help="1 leaves JSON, 2 leaves a chart.")
@click.option("--backend", type=click.Choice([kind.value for kind in CodeType]), default="python", show_default=True)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, readable=False), help="Where the JSON or PNG goes."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, MAX_TIMEOUT_S, min_open=True),
    callback=_finite,
    help="Seconds; default: 60 for stage 1, 120 for a chart.",
)
@click.option("--sandbox", type=click.Choice(get_args(SandboxTier)), help="Default: DEEPCHART_SANDBOX, else auto.")
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

    \b
    Example: deepchart run-program chart.py --stage 2 --backend python --out chart.png
    """
    source = _read(file)
    number: Literal[1, 2] = 1 if stage == "1" else 2
    with workbench(storage, sandbox=sandbox) as bench:
        limits = bench.stage1_limits if number == 1 else bench.chart_limits
        if timeout is not None:
            limits = type(limits)(wall_s=timeout)
        result = bench.runner.run(Program(source=source, stage=number, backend=CodeType(backend), limits=limits))
    drawn = _save(result, out)
    emit(
        as_json,
        _as_json(result, drawn),
        _text(result),
    )
    if result.status is RunStatus.REFUSED:
        raise click.exceptions.Exit(1)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}.", remedy="Give the path of a Python or HTML program."
        ) from error


def _save(result: RunResult, out: Path) -> Path | None:
    if result.output is not None:
        write_bytes(out, result.output)
    if result.drawn is None:
        return None
    drawn = out.with_suffix(".drawn.json")
    write_json(drawn, result.drawn)
    return drawn


def _text(result: RunResult) -> str:
    """What happened, what it took and with what, and the program's last words."""
    ended = [f"exit code {result.exit_code}"] if result.exit_code is not None else []
    ended += [_signal(result.signal)] if result.signal is not None else []
    how = ", ".join([*ended, f"{result.wall_s:.2f} s", f"sandbox {result.tier}"])
    used = [f"{result.cpu_s:.2f} s of CPU"] if result.cpu_s is not None else []
    used += [f"{result.max_rss_mb:.0f} MB at most"] if result.max_rss_mb is not None else []
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    lines = [f"{result.status.value} ({how}) {result.message}".rstrip(), "; ".join([*used, versions]).strip("; ")]
    return "\n".join([*filter(None, lines), *result.stderr_tail.splitlines()])


def _signal(number: int) -> str:
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:  # a real-time signal: these have numbers only
        return f"signal {number}"


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
        "requests": [asdict(request) for request in result.requests],
    }

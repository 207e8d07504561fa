"""``deepchart doctor``: what is there, what is missing and how to get it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal

import click

from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.cli.narrow import folded
from deepchart_dagster.errors import DeepChartError
from deepchart_dagster.settings import Settings, unknown_variables
from deepchart_dagster.workbench import Workbench

Verdict = Literal["ok", "missing", "broken"]

_REQUIRED = (
    "dagster",
    "dagster-webserver",
    "dagster-dbt",
    "dbt-duckdb",
    "duckdb",
    "litellm",
    "pandas",
    "matplotlib",
    "playwright",
    "pymupdf",
)
_EXTRAS = {"rapidocr": "ocr", "paddleocr": "ocr", "dagster-docker": "docker"}
_INSTALL = ".venv/bin/python -m uv pip install -c requirements.lock -e '.[{extra}]'"
# The tier says both in one sentence; a finding has them apart.
_NO_DOCKER = ("the Python package docker is not installed", _INSTALL.format(extra="docker"))
_LOW_DISK_GB = 2.0


@dataclass(frozen=True)
class Finding:
    """One line. ``needed`` is false for what only some uses need: it never makes the exit code 1."""

    what: str
    verdict: Verdict
    detail: str
    remedy: str = ""
    needed: bool = True


@click.command("doctor", short_help="What is there, what is missing, how to get it.")
@common_options
def command(storage: str | None, as_json: bool) -> None:
    """Check packages, browser, sandbox, OCR engines, provider keys (present or not, never shown), disk, storage.

    Exit code 1 where something that every run needs is missing or broken.

    \b
    Example: deepchart doctor --json
    """
    with workbench(storage) as bench:
        findings = list(_examine(bench))
        settings = {name: str(value) for name, value in bench.settings.model_dump(mode="json").items()}
    emit(
        as_json,
        {"findings": [asdict(finding) for finding in findings], "settings": settings},
        folded("\n".join(_lines(findings)) + "\n\n" + _settings_table(settings)),
    )
    if any(finding.needed and finding.verdict != "ok" for finding in findings):
        raise click.exceptions.Exit(1)


def _lines(findings: list[Finding]) -> Iterator[str]:
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        verdict = finding.verdict if finding.needed or finding.verdict == "ok" else f"{finding.verdict} (optional)"
        remedy = f"  -> {finding.remedy}" if finding.remedy else ""
        yield f"{verdict:19} {finding.what:{width}} {finding.detail}{remedy}"


def _settings_table(settings: dict[str, str]) -> str:
    shown = {name: "not set" if value in ("None", "[]") else value for name, value in settings.items()}
    width = max(map(len, shown.values()))
    lines = ["Settings (DEEPCHART_… in the environment)"]
    for name, field in Settings.model_fields.items():
        lines.append(f"  {'DEEPCHART_' + name.upper():28} {shown[name]:{width}}  {field.description or ''}")
    return "\n".join(lines)


def _examine(bench: Workbench) -> Iterator[Finding]:
    yield from _packages()
    yield from _browser()
    yield _chart_libraries()
    yield from _sandbox(bench.settings)
    yield from _engines(bench.settings)
    yield from _configuration(bench)
    yield from _environment()
    yield _disk(bench.settings)
    yield _storage(bench.settings)


def _packages() -> Iterator[Finding]:
    for name in _REQUIRED:
        try:
            yield Finding(name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(name, "missing", "not installed", "./scripts/demo installs it")
    for name, extra in _EXTRAS.items():
        try:
            yield Finding(name, "ok", version(name), needed=False)
        except PackageNotFoundError:
            yield Finding(name, "missing", f"extra {extra}", _INSTALL.format(extra=extra), needed=False)


def _browser() -> Iterator[Finding]:
    from deepchart_dagster.execution.doctor import browser_sandbox, find_browser

    state = find_browser()
    if state.found is None:
        yield Finding("Chromium", "missing", "for HTML charts", state.remedy, needed=False)
        return
    yield Finding("Chromium", "ok", f"{state.found.version} ({state.found.path})", needed=False)
    sandbox = browser_sandbox(state.found)
    verdict: Verdict = "ok" if sandbox.on else "missing"
    yield Finding("Chromium sandbox", verdict, sandbox.reason, sandbox.remedy, needed=False)


def _chart_libraries() -> Finding:
    from deepchart_dagster.execution.doctor import chart_libraries

    state = chart_libraries()
    if not state.versions:
        return Finding("chart libraries", "missing", "for HTML charts", state.remedy, needed=False)
    return Finding(
        "chart libraries", "ok", f"{len(state.versions)} packages ({state.folder})", state.remedy, needed=False
    )


def _sandbox(settings: Settings) -> Iterator[Finding]:
    from deepchart_dagster.execution.doctor import available_tiers

    tiers = [tier for tier in available_tiers(settings) if tier.name != "trusted"]
    for tier in tiers:
        verdict: Verdict = "ok" if tier.available else "missing"
        # One safe tier is enough.
        needed = not any(other.available for other in tiers)
        if tier.name == "container" and not _has_docker():
            yield Finding(f"sandbox {tier.name}", verdict, *_NO_DOCKER, needed=needed)
        else:
            yield Finding(f"sandbox {tier.name}", verdict, tier.reason or "holds a program", needed=needed)


def _has_docker() -> bool:
    return find_spec("docker") is not None


def _engines(settings: Settings) -> Iterator[Finding]:
    from deepchart_dagster.contexts.engines.config import EngineConfig
    from deepchart_dagster.contexts.engines.doctor import engine_states

    for state in engine_states(EngineConfig.of(settings)):
        wanted = settings.ocr_engine == state.name
        yield Finding(f"engine {state.name}", state.verdict, state.detail, state.remedy, needed=wanted)


def _configuration(bench: Workbench) -> Iterator[Finding]:
    from deepchart_dagster.llm.doctor import NAME_A_PROVIDER, has_provider, key_statuses

    try:
        models = list(bench.models.values())
        yield Finding("models.yaml", "ok", f"{len(models)} models")
    except DeepChartError as error:
        yield Finding("models.yaml", "broken", error.message, error.remedy)
        return
    try:
        judges = list(bench.judges.judges.values())
        yield Finding("judges.yaml", "ok", f"{len(judges)} judges and writers")
    except DeepChartError as error:
        yield Finding("judges.yaml", "broken", error.message, error.remedy)
        judges = []
    for role, specs in (("model", models), ("judge", judges)):
        for spec in specs:
            if not has_provider(spec):
                detail = f"litellm knows no provider of {spec.litellm_model!r}"
                yield Finding(f"{role} {spec.slug}", "broken", detail, NAME_A_PROVIDER, needed=False)
        for status in key_statuses(specs):
            if status.names:
                detail = "key present" if status.present else "no key"
                verdict: Verdict = "ok" if status.present else "missing"
                yield Finding(f"{role} {status.slug}", verdict, detail, status.remedy, needed=False)


def _environment() -> Iterator[Finding]:
    for name, near in unknown_variables().items():
        remedy = f"Did you mean {near}?" if near else "The settings are listed below."
        yield Finding(name, "broken", "set, but nothing reads it", remedy, needed=False)


def _disk(settings: Settings) -> Finding:
    place = next(folder for folder in (settings.storage, *settings.storage.parents) if folder.exists())
    free_gb = shutil.disk_usage(place).free / 1e9
    if free_gb < _LOW_DISK_GB:
        return Finding(
            "disk", "broken", f"{free_gb:.1f} GB free at {place}", "Free space, or choose another --storage."
        )
    return Finding("disk", "ok", f"{free_gb:.0f} GB free at {place}")


def _storage(settings: Settings) -> Finding:
    place = next(folder for folder in (settings.storage, *settings.storage.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            return Finding("storage", "ok", str(settings.storage))
    except OSError as error:
        return Finding(
            "storage", "broken", f"{place}: {error.strerror}", "Give write permission, or choose another --storage."
        )

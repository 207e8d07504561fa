"""``deepchart verify``: stored files against their recorded hashes."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, exit_with_errors, settings_for
from deepchart_dagster.errors import NoWorkPossible
from deepchart_dagster.lineage.verify import verify


@click.command("verify", short_help="Find stored files that were damaged or edited.")
@common_options
def command(storage: str | None, as_json: bool) -> None:
    """Re-hash what is stored and report what is damaged or was edited by hand. Changes nothing.

    \b
    Example: deepchart verify --json
    """
    root = settings_for(storage).storage
    if not root.is_dir():
        raise NoWorkPossible(f"{root} is not there: nothing can be verified.", remedy="Check --storage.")
    report = verify(root)
    findings = [{"file": str(finding.file), "message": finding.message} for finding in report.findings]
    emit(
        as_json,
        {"n_results": report.n_results, "n_files": report.n_files, "findings": findings},
        "\n".join(
            [
                *(f"{finding['file']} {finding['message']}" for finding in findings),
                f"{report.n_results} results, {report.n_files} files as recorded, {len(findings)} findings",
            ]
        ),
    )
    exit_with_errors(len(findings))

"""``deepchart models``: the models of models.yaml as partitions."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, group_options, workbench


@click.group(short_help="List the models; bring Dagster's partitions in line.")
@group_options
def command() -> None:
    """The models of models.yaml: list them, or bring Dagster's partitions in line.

    \b
    Example: deepchart models list
    """


@command.command("list")
@common_options
def list_models(storage: str | None, as_json: bool) -> None:
    """List slug, protocols, context window and provider model of every entry.

    \b
    Example: deepchart models list --json
    """
    with workbench(storage) as bench:
        models = list(bench.models.values())
    emit(
        as_json,
        {"models": [model.model_dump(mode="json") for model in models]},
        "\n".join(
            f"{model.slug:28} {'+'.join(kind.value for kind in model.protocols):16} "
            f"{model.context_window:>9,} tokens  {model.litellm_model}{'  (scripted)' if model.scripted else ''}"
            for model in models
        ),
    )


@command.command("sync")
@common_options
def sync(storage: str | None, as_json: bool) -> None:
    """Bring Dagster's model partitions in line with models.yaml; results of removed models stay until pruned.

    \b
    Example: deepchart models sync
    """
    from deepchart_dagster.cli.runs import Runs

    with workbench(storage) as bench:
        change = Runs(bench.settings).sync_models(bench.models)
    lines = [f"added     {slug}" for slug in change["added"]]
    lines += [f"orphaned  {slug}: what it left stays until deepchart prune" for slug in change["orphaned"]]
    emit(as_json, change, "\n".join(lines) or "Nothing changed.")

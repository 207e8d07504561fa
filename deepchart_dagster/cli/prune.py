"""``deepchart prune``: delete what is stored and belongs to nothing any more."""

from __future__ import annotations

import click

from deepchart_dagster.cli.common import common_options, emit, note, workbench
from deepchart_dagster.errors import StorageError
from deepchart_dagster.lineage.orphans import (
    Orphan,
    orphaned_instances,
    orphaned_partitions,
    remove,
    unanswered_judges,
)


@click.command("prune", short_help="Delete what belongs to nothing any more.")
@click.option("--dry-run", is_flag=True, help="Say what would be deleted; delete nothing.")
@common_options
def command(dry_run: bool, storage: str | None, as_json: bool) -> None:
    """Delete orphaned results: of models that are not in models.yaml any more or no longer asked about a split, of
    judges that are not in judges.yaml any more, of documents that were removed, of queries that no benchmark or split
    has any more, with the rows that tables are made of; and the attempts of judges of the judge study of which every
    one is in error. Until then they are kept: `deepchart status` shows such partitions as orphaned. Leaderboard and
    report change when they are made next (`deepchart materialize "group:reports"`). Answers of models stay in the
    response cache, so that nothing has to be paid for twice.

    \b
    Example: deepchart prune --dry-run
    """
    with workbench(storage) as bench:
        found = [*orphaned_partitions(bench), *orphaned_instances(bench), *unanswered_judges(bench)]
        rows = [_row(orphan) for orphan in found]
        kept: list[str] = []
        for orphan in [] if dry_run else found:
            try:
                remove(bench, orphan)
            except StorageError as error:
                kept.append(str(error))
    for line in kept:
        note(f"deepchart: {line}")
    done = "would be deleted" if dry_run else "deleted"
    size = sum(orphan.n_bytes for orphan in found) if dry_run else None
    megabytes = f", {size / 1e6:.1f} MB" if size is not None else ""
    lines = [f"{row['asset']:20} {row['partition']:40} {row['uid'] or 'all of it'}: {row['reason']}" for row in rows]
    summary = f"{len(rows) - len(kept)} {done}{megabytes}." if rows else "Nothing is orphaned."
    emit(as_json, {"dry_run": dry_run, "orphans": rows, "kept": kept}, "\n".join([*lines, summary]))
    if rows and not dry_run and not as_json:
        note('Next: deepchart materialize "group:reports", so that tables and report show them no longer')
    if kept:
        raise click.exceptions.Exit(1)


def _row(orphan: Orphan) -> dict[str, object]:
    return {
        "asset": orphan.key.asset,
        "partition": str(orphan.key),
        "uid": orphan.uid,
        "reason": orphan.reason,
        "paths": [str(path) for path in orphan.paths],
    }

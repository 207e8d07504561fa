"""``deepchart metrics``: the tables behind the leaderboard, built anew from files and asked in SQL."""

from __future__ import annotations

import json
from pathlib import Path

import click

from deepchart_dagster.cli.common import common_options, emit, group_options, workbench
from deepchart_dagster.errors import UsageError

_SHOWN_ROWS = 200


@click.group(short_help="Build the tables from files; ask them in SQL.")
@group_options
def command() -> None:
    """The tables behind the leaderboard: build them anew from the files, ask them in SQL, see what they hold.

    \b
    Example: deepchart metrics query "select model, split, avg(value) from pipeline.scores group by all"
    """


@command.command("build")
@common_options
def build(storage: str | None, as_json: bool) -> None:
    """Write every partition's rows again from its results, and build the store of raw tables from them. Readers keep
    what they have open; a build that fails or is killed leaves the old store. Marts and report come after it:
    deepchart materialize "group:reports".

    \b
    Example: deepchart metrics build --json
    """
    from deepchart_dagster.metrics.rows import export_all
    from deepchart_dagster.metrics.store import build_metrics

    with workbench(storage) as bench:
        files = export_all(bench.artifacts, bench.library, bench.models)
        built = build_metrics(bench.settings.storage)
    emit(
        as_json,
        {"database": str(built.path), "n_files": len(files), "rows": built.row_counts, "seconds": built.seconds},
        "\n".join(
            [
                *(f"{name:12} {count:>9,} rows" for name, count in built.row_counts.items()),
                f"{built.path}, from {len(files)} files in {built.seconds} s",
            ]
        ),
    )


@command.command("tables")
@common_options
def tables(storage: str | None, as_json: bool) -> None:
    """List tables and columns with what they mean, of the published store where there is one, else of the raw one.

    \b
    Example: deepchart metrics tables
    """
    from deepchart_dagster.metrics.query import described

    with workbench(storage) as bench:
        database = _database(bench.settings.storage)
    found = described(database)
    lines = [f"{database}"]
    for table in found:
        lines += ["", f"{table.schema}.{table.name}: {table.comment or 'no comment'}"]
        lines += [f"    {column.name:20} {column.type:10} {column.comment}".rstrip() for column in table.columns]
    emit(as_json, {"database": str(database), "tables": [table.as_json() for table in found]}, "\n".join(lines))


@command.command("query")
@click.argument("sql")
@common_options
def query(sql: str, storage: str | None, as_json: bool) -> None:
    """Ask one question in SQL (DuckDB's) and print its rows. Reads only, and nothing but the store: no other file, no
    network. Tables: `deepchart metrics tables`. Numbers with --json are numbers, NaN and infinity are null.

    \b
    Example: deepchart metrics query "select model, avg(value) from pipeline.scores where metric = 'er' group by model"
    """
    from deepchart_dagster.metrics.query import ask

    with workbench(storage) as bench:
        answer = ask(_database(bench.settings.storage), sql)
    emit(as_json, answer.as_json(), _text(answer.columns, answer.rows))


def _database(storage: Path) -> Path:
    """The published store: marts and raw tables. Raises UsageError where neither it nor the raw one is there."""
    from deepchart_dagster.metrics.leaderboard import database_path
    from deepchart_dagster.metrics.store import RAW_NAME, metrics_folder

    for path in (database_path(storage), metrics_folder(storage) / RAW_NAME):
        if path.is_file():
            return path
    raise UsageError(f"{storage} has no tables yet.", remedy="Make them: deepchart metrics build.")


def _text(columns: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> str:
    """Columns as wide as what stands in them; the first rows of many."""
    shown = [["" if value is None else _cell(value) for value in row] for row in rows[:_SHOWN_ROWS]]
    widths = [max(map(len, column)) for column in zip(columns, *shown, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    head = "  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip()
    more = [f"and {len(rows) - _SHOWN_ROWS} more; --json shows all"] if len(rows) > _SHOWN_ROWS else []
    return "\n".join([head, *lines, *more, f"{len(rows)} rows"])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

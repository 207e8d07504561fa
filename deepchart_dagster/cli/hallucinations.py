"""``deepchart hallucinations``: charts that look right and are not."""

from __future__ import annotations

import click

from deepchart_dagster.cli.chosen import chosen_rows, row_options
from deepchart_dagster.cli.common import common_options, emit, settings_for


@click.command("hallucinations", short_help="Charts that look right and are not.")
@row_options
@common_options
def command(
    benchmark: str | None, models: tuple[str, ...], splits: tuple[str, ...], storage: str | None, as_json: bool
) -> None:
    """Charts with a high VAS over source or derived data that are wrong, by model and split.

    DEEPCHART_HIDDEN_VAS and DEEPCHART_HIDDEN_F1 set from where on a chart looks right and below what data are wrong.

    \b
    Example: deepchart hallucinations --model misreads
    """
    from deepchart_dagster.metrics.hallucinations import Thresholds, format_hidden, read_hidden

    settings = settings_for(storage)
    thresholds = Thresholds.of(settings)
    rows = chosen_rows(read_hidden(settings.storage, thresholds), benchmark, models, splits)
    document = {"hidden_vas": thresholds.vas, "hidden_f1": thresholds.f1, "rows": [row.as_json() for row in rows]}
    emit(as_json, document, format_hidden(rows, thresholds))

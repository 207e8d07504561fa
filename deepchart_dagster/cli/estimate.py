"""``deepchart estimate``: what a materialization would ask and cost, before it is started."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.cli.common import common_options, emit, workbench
from deepchart_dagster.errors import NoWorkPossible
from deepchart_dagster.lineage.estimate import MAIN_RUN, Estimate, Estimator, Range, Total, asking_assets


@click.command("estimate", short_help="Calls, tokens and price of a run, before it.")
@click.argument("selection", default=",".join(MAIN_RUN))
@click.option("--model", "models", multiple=True, required=True, metavar="M", help="May be repeated.")
@click.option("--split", "splits", multiple=True, type=click.Choice([split.value for split in Split]))
@click.option("--prompts", metavar="DIR", help="Another prompt set; default: DEEPCHART_PROMPTS, else ours.")
@common_options
def command(
    selection: str,
    models: tuple[str, ...],
    splits: tuple[str, ...],
    prompts: str | None,
    storage: str | None,
    as_json: bool,
) -> None:
    """Say what materialising SELECTION (default: every step of the main run that asks a model) would ask now: calls,
    tokens and price, low, expected and high. Stored answers and results ask nobody; a price that is not known is
    unknown. Asks nobody itself.

    \b
    Example: deepchart estimate --model gpt-5.2 --split finance-normal
    """
    assets = asking_assets(selection)
    with workbench(storage, prompts=prompts) as bench:
        slugs = [bench.model(slug).slug for slug in models]
        estimates = Estimator(bench, _counting).estimate(assets, slugs, [Split(name) for name in splits] or list(Split))
        if not estimates:
            raise NoWorkPossible(
                f"there is nothing to ask {', '.join(slugs)} in {', '.join(splits) or 'any split'}.",
                remedy="deepchart status shows what is there; deepchart import PATH brings a benchmark.",
            )
    total = Total.of(estimates)
    rows: list[object] = [one.as_json() for one in estimates]
    emit(as_json, {"estimates": rows, "total": total.as_json()}, estimate_text(estimates, total))


def _counting(what: str, done: int, total: int) -> None:
    """Long contexts take a while to count: said where somebody looks on."""
    if sys.stderr.isatty():
        click.echo(f"\r{what}: {done} of {total} counted\x1b[K{chr(10) if done == total else ''}", err=True, nl=False)


def estimate_text(estimates: Sequence[Estimate], total: Total) -> str:
    head = _line("asset", "split", "asked", "calls", "tokens in", "tokens out", "US dollars")
    lines = [head, *(_row(one) for one in estimates if one.calls.high)]
    price = _money(total.price)
    sums = (_count(total.calls), _count(total.input_tokens), _count(total.output_tokens), price)
    lines.append(_line("total", "", "", *sums))
    if total.unpriced:
        priced = any(one.price for one in estimates if one.calls.high)
        others = f" All others together: {_money(total.price_of_known)}." if priced else ""
        lines.append(f"No price in models.yaml or judges.yaml: {', '.join(total.unpriced)}.{others}")
    cached, guessed = sum(one.cached for one in estimates), sum(one.guessed for one in estimates)
    if cached:
        lines.append(f"{cached} answers are stored already and ask nobody.")
    if guessed:
        lines.append(f"Sizes guessed for {guessed} instances: the step before them has not been made yet.")
    lines.append("low … expected … high; attempts that fail are not in it.")
    return "\n".join(lines)


def _row(one: Estimate) -> str:
    sizes = (_count(one.calls), _count(one.input_tokens), _count(one.output_tokens))
    return _line(one.asset, one.split or one.backend or "", one.asked, *sizes, _money(one.price))


def _line(asset: str, split: str, asked: str, calls: str, given: str, made: str, price: str) -> str:
    return f"{asset:16} {split:18} {asked:20} {calls:>15} {given:>21} {made:>21} {price:>24}"


def _count(span: Range) -> str:
    return _span([_short(value) for value in (span.low, span.expected, span.high)])


def _money(span: Range | None) -> str:
    if span is None:
        return "unknown"
    digits = 2 if span.high >= 1 else 4
    return _span([f"{value:.{digits}f}" for value in (span.low, span.expected, span.high)])


def _span(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else " … ".join(values)


def _short(value: float) -> str:
    """Three digits and a letter: 1.24M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}"

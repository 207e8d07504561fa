"""The raw tables, each from one kind of Parquet file: columns, DuckDB types, and what they mean.

This is the only place that names them; files, tables, comments and casts follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMA = "pipeline"
SqlType = Literal["VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN"]


@dataclass(frozen=True)
class Column:
    name: str
    type: SqlType
    comment: str


@dataclass(frozen=True)
class Table:
    """``order`` makes a file's rows come out the same whenever it is written."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    order: tuple[str, ...]

    @property
    def definition(self) -> str:
        """The column list of a CREATE TABLE statement."""
        return ", ".join(f'"{column.name}" {column.type}' for column in self.columns)

    @property
    def selection(self) -> str:
        return ", ".join(f'"{column.name}"' for column in self.columns)


_BENCHMARK = Column("benchmark", "VARCHAR", "Name of the benchmark that the query belongs to.")
_MODEL = (
    Column("model", "VARCHAR", "Slug in models.yaml."),
    Column("model_name", "VARCHAR", "The model's name as tables print it."),
    Column("family", "VARCHAR", "Group of the model in the paper's tables."),
    Column("scripted", "BOOLEAN", "A program stood in for the model: no measurement of any model."),
)
_INPUT_KEY = Column("input_key", "VARCHAR", "Key of all that the result depends on; its parts are in result.json.")
_STATUS = Column("status", "VARCHAR", "ok, failed (the model's doing), error (ours, unscored) or not_applicable.")
_JUDGE = (
    Column("judge", "VARCHAR", "Slug of the judge; null where none is asked."),
    Column("judge_scripted", "BOOLEAN", "A program stood in for the judge; null where none is asked."),
)
_INSTANCE = (
    Column("uid", "VARCHAR", "The query; with split and model it names an instance that a model was asked about."),
    _BENCHMARK,
    Column("domain", "VARCHAR", "academic, finance or ecosystem."),
    Column("split", "VARCHAR", "Domain and context variant."),
    *_MODEL,
    Column("asset", "VARCHAR", "The asset whose result this is."),
    _INPUT_KEY,
    _STATUS,
    Column("problem_kind", "VARCHAR", "Why it is failed, error or not_applicable."),
    Column("backend", "VARCHAR", "python or html: the chart program's language; null where none was asked for."),
    Column("query_type", "VARCHAR", "Paper, table 6; null where the benchmark does not say."),
    Column("chart_family", "VARCHAR", "Paper, table 8; null where the benchmark does not say."),
    Column("selection", "VARCHAR", "What of the split was run, as in '50 of 290, seed 20260'; null: always all of it."),
)

SCORES = Table(
    name="scores",
    comment="One row per instance and metric that holds now. Means are over status ok and failed.",
    columns=(
        *_INSTANCE,
        Column("metric", "VARCHAR", "er, f1_src, precision_src, recall_src, f1_der, …, vas and its aspects."),
        Column("metric_version", "VARCHAR", "Rule that made the value: version, scorer, hash of judge and prompt."),
        Column("yardstick", "VARCHAR", "Hash of task, rule, reference, rubric, judge; null where any of them gives 0."),
        Column("value", "DOUBLE", "0 to 1; null where the status is error or not_applicable."),
        *_JUDGE,
    ),
    order=("uid", "metric"),
)

EXECUTIONS = Table(
    name="executions",
    comment="One row per program that a model wrote, or should have written, and how running it went.",
    columns=(
        *_INSTANCE,
        Column("stage", "BIGINT", "1: reads and derives the data; 2: draws the chart."),
        Column("wall_s", "DOUBLE", "Seconds of wall clock that the program ran; null where it did not."),
        Column("cpu_s", "DOUBLE", "Seconds of processor time; null where the host does not tell."),
        Column("max_rss_mb", "DOUBLE", "Peak memory in MiB; null where the host does not tell."),
        Column("tier", "VARCHAR", "Sandbox tier that held the program."),
        Column("seconds", "DOUBLE", "Seconds that the whole instance took, the model call included."),
    ),
    order=("uid", "stage"),
)

DIAGNOSES = Table(
    name="diagnoses",
    comment="Why values did not match: one row per instance, side and class that occurs.",
    columns=(
        *_INSTANCE,
        Column("side", "VARCHAR", "src or der."),
        Column("value_of", "VARCHAR", "reference: a value that was not matched; prediction: one that matched nothing."),
        Column("class", "VARCHAR", "scale, sign, percent, year_shift, … unknown (docs/scoring.md)."),
        Column("n", "BIGINT", "How many values."),
    ),
    order=("uid", "side", "value_of", "class"),
)

CALLS = Table(
    name="calls",
    comment="One row per attempt at a model call, and one per answer that the cache gave.",
    columns=(
        Column("time", "VARCHAR", "When the attempt ended, UTC, ISO 8601."),
        Column("key", "VARCHAR", "Identity of the request: the same key has the same answer."),
        Column("attempt", "BIGINT", "Counted from 1 within one request; 0 for an answer from the cache."),
        Column("model", "VARCHAR", "Slug in models.yaml or judges.yaml."),
        Column("litellm_model", "VARCHAR", "The provider and its own name for the model."),
        Column("scripted", "BOOLEAN", "A program stood in for the model."),
        Column("purpose", "VARCHAR", "stage1, stage2, rubric or judge."),
        Column("status", "VARCHAR", "ok, cached, error or cancelled."),
        Column("error", "VARCHAR", "Kind of the error."),
        Column("http_status", "BIGINT", "The provider's status where there was one."),
        Column("input_tokens", "BIGINT", "As the provider counted; null where it did not say."),
        Column("output_tokens", "BIGINT", "As the provider counted; null where it did not say."),
        Column("price_usd", "DOUBLE", "US dollars; null where the price is unknown, never 0 for that reason."),
        Column("seconds", "DOUBLE", "Seconds of wall clock."),
        Column("finish_reason", "VARCHAR", "stop, length, refusal or other."),
    ),
    order=("time", "key", "attempt"),
)

BACKENDS = Table(
    name="backends",
    comment="The study of rendering backends: one row per query and setting that it counts in, as it holds now.",
    columns=(
        Column("uid", "VARCHAR", "The query."),
        _BENCHMARK,
        Column("split", "VARCHAR", "The text setting in which the row counts."),
        *_MODEL,
        Column("backend", "VARCHAR", "What was asked for: python, html, or free (the model's choice)."),
        Column("chosen_backend", "VARCHAR", "What the model wrote; null where there was no program to tell."),
        _STATUS,
        _INPUT_KEY,
        Column("executed", "DOUBLE", "1: the program ran and drew a valid image; null where unscored."),
        Column("vas", "DOUBLE", "0 to 1; null where unscored or without a reference chart."),
        *_JUDGE,
    ),
    order=("uid", "split"),
)

TABLES = (SCORES, EXECUTIONS, DIAGNOSES, CALLS, BACKENDS)

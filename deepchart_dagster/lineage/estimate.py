"""What a materialization would ask now, and what that may cost: calls, tokens and price, low, expected and high.

Each instance that a run would compute is looked at as the run would: where its request can be built, that very
request is counted, and an answer that is stored already asks nobody. Where the step before has not been made yet,
its size is guessed from those that are known, or from what such calls took so far. Output is guessed from the
ledger. Attempts that fail are not in it. A price that is not known is unknown, and so is every sum with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import fmean

from pydantic import JsonValue

from deepchart_dagster.artifacts.steps import Work, reusable
from deepchart_dagster.benchmark.model import Backend, Query, Split
from deepchart_dagster.errors import DeepChartError, UsageError
from deepchart_dagster.generation.preview import Preview, find_instance
from deepchart_dagster.lineage.graph import NODES, PartitionKey, node, plan
from deepchart_dagster.llm.cache import AnswerCache
from deepchart_dagster.llm.ledger import LedgerTail
from deepchart_dagster.llm.model import ChatRequest, Purpose, Usage, price_usd
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.llm.usage_history import UsageHistory
from deepchart_dagster.workbench import Workbench

Progress = Callable[[str, int, int], None]

MAIN_RUN = ("rubrics", "predicted_states", "rendered_charts", "visual_accuracy")
ASKING = (*MAIN_RUN, "backend_charts", "backend_scores")

# Where nothing is known: a context as a share of the model's window, the input of stage 2 (prompt, intent and J), of a
# question about a picture, and of the writing of one aspect, in tokens: (low, expected, high).
_CONTEXT_SHARES = (0.02, 0.25, 0.8)
_STAGE2_INPUT = (1500, 3500, 8000)
_JUDGE_INPUT = (700, 1500, 3000)
_RUBRIC_INPUT = (1500, 2500, 4000)
# Questions of a rubric (paper, section 4), and what replacing those that do not hold adds at most.
_QUESTIONS = (8, 11, 13)
_ASPECTS = 3
_REPLACEMENTS = (0, 1, 6)
# Of the instances whose J is not there yet, stage 1 fails on some, and stage 2 is then not asked.
_LEAST_VALID = 0.5


@dataclass(frozen=True)
class Range:
    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def as_json(self, digits: int = 0) -> dict[str, JsonValue]:
        return {
            name: round(value, digits) if digits else round(value)
            for name, value in (("low", self.low), ("expected", self.expected), ("high", self.high))
        }


@dataclass(frozen=True)
class Estimate:
    """What one step asks of one model. ``asked`` is that model's slug, ``model`` the evaluated one's; ``split`` or
    ``backend`` (in the study of rendering backends) is the rest of the partition.

    instances     to be computed
    cached        calls of theirs whose answers are stored
    guessed       instances whose requests could not be built yet
    price         US dollars; None where a price is not known
    """

    asset: str
    split: str | None
    backend: str | None
    model: str | None
    asked: str
    instances: int
    cached: int
    guessed: int
    calls: Range
    input_tokens: Range
    output_tokens: Range
    price: Range | None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "asset": self.asset,
            "split": self.split,
            "backend": self.backend,
            "model": self.model,
            "asked": self.asked,
            "instances": self.instances,
            "cached": self.cached,
            "guessed": self.guessed,
            "calls": self.calls.as_json(),
            "input_tokens": self.input_tokens.as_json(),
            "output_tokens": self.output_tokens.as_json(),
            "price_usd": self.price.as_json(6) if self.price else None,
        }


@dataclass(frozen=True)
class Total:
    """``price_of_known`` leaves out the models in ``unpriced``; ``price`` is None where there are any."""

    calls: Range
    input_tokens: Range
    output_tokens: Range
    price_of_known: Range
    unpriced: tuple[str, ...]

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> Total:
        asking = [one for one in estimates if one.calls.high]
        return cls(
            calls=_sum(one.calls for one in asking),
            input_tokens=_sum(one.input_tokens for one in asking),
            output_tokens=_sum(one.output_tokens for one in asking),
            price_of_known=_sum(one.price for one in asking if one.price),
            unpriced=tuple(sorted({one.asked for one in asking if one.price is None})),
        )

    @property
    def price(self) -> Range | None:
        return None if self.unpriced else self.price_of_known

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "calls": self.calls.as_json(),
            "input_tokens": self.input_tokens.as_json(),
            "output_tokens": self.output_tokens.as_json(),
            "price_usd": self.price.as_json(6) if self.price else None,
            "price_usd_where_known": self.price_of_known.as_json(6),
            "unknown_prices": list(self.unpriced),
        }


def _sum(ranges: Iterable[Range]) -> Range:
    return sum(ranges, Range())


@dataclass
class _Asked:
    """Calls to one model, as they are found."""

    model: ModelSpec
    purpose: Purpose
    counted: list[int] = field(default_factory=list)
    cached: int = 0
    guessed: list[tuple[Range, Range]] = field(default_factory=list)

    def guess(self, calls: tuple[float, float, float], tokens_each: tuple[float, float, float]) -> None:
        self.guessed.append((Range(*calls), Range(*tokens_each)))

    def like_those_known(self, calls: tuple[float, float, float], otherwise: tuple[float, float, float]) -> None:
        """Calls of unknown size: as the known ones are, or ``otherwise``."""
        known = (min(self.counted), fmean(self.counted), max(self.counted)) if self.counted else otherwise
        self.guess(calls, known)


class Estimator:
    """Estimates for one workbench. Reads files; asks nobody and writes nothing."""

    def __init__(self, bench: Workbench, progress: Progress | None = None) -> None:
        self._bench = bench
        self._progress = progress
        self._cache = AnswerCache(bench.settings.storage)
        self._history = UsageHistory()
        for row in LedgerTail(bench.settings.storage).new_rows():
            self._history.add(row)
        self._rubrics_seen: set[str] = set()

    def estimate(self, assets: Sequence[str], models: Sequence[str], splits: Sequence[Split]) -> list[Estimate]:
        """In the order of the pipeline. Models are left out where they have nothing to do."""
        found: list[Estimate] = []
        for split in splits:
            if "rubrics" in assets:
                found += self._rubrics(split)
            for slug in models:
                model = self._bench.model(slug)
                if self._bench.applicable(model, split):
                    found += self._model_split(assets, split, model)
        for slug in models:
            for backend in Backend:
                found += self._backend(assets, backend, self._bench.model(slug))
        return found

    def _model_split(self, assets: Sequence[str], split: Split, model: ModelSpec) -> Iterator[Estimate]:
        if "predicted_states" in assets:
            yield self._states(split, model)
        if "rendered_charts" in assets:
            yield self._charts(split, model)
        if "visual_accuracy" in assets:
            yield from self._verdicts(split, model)

    def _backend(self, assets: Sequence[str], backend: Backend, model: ModelSpec) -> Iterator[Estimate]:
        """The study of rendering backends (paper, 5.4): charts from the references' data, and their verdicts."""
        if "backend_charts" in assets:
            key = PartitionKey("backend_charts", backend=backend, model=model.slug)
            works = [work for work in self._to_do(key) if work.blocked is not None or work.key.parts.get("state")]
            stage = self._bench.backend_charts()
            asked = _Asked(model, "stage2")

            def requests(uid: str) -> list[ChatRequest]:
                return [stage.request(self._bench.library.query(uid), backend, model)]

            unknown = self._count(f"backend_charts {key}", asked, works, requests)
            for _ in unknown:
                asked.like_those_known((1, 1, 1), _STAGE2_INPUT)
            yield self._estimated(key, asked, len(works), len(unknown))
        if "backend_scores" in assets:
            key = PartitionKey("backend_scores", backend=backend, model=model.slug)
            works = [work for work in self._to_do(key) if work.blocked is not None or work.key.parts.get("chart")]
            for judge, own in self._by_judge(works, self._bench.settings.judge):
                asked = _Asked(judge, "judge")
                low, expected, high = _QUESTIONS
                for work in own:
                    asked.guess((low * (_LEAST_VALID if work.blocked else 1), expected, high), _JUDGE_INPUT)
                yield self._estimated(key, asked, len(own), len(own))

    def _to_do(self, key: PartitionKey) -> list[Work]:
        works = plan(self._bench, key)
        return [work for work in works if reusable(self._bench.artifacts, key.step, work) is None]

    def _states(self, split: Split, model: ModelSpec) -> Estimate:
        key = PartitionKey("predicted_states", split=split, model=model.slug)
        works = self._to_do(key)
        stage = self._bench.predicted_states()
        asked = _Asked(model, "stage1")

        def request(uid: str) -> ChatRequest:
            return stage.request(find_instance(self._bench.library, uid, split), model).request

        unknown = self._count(f"predicted_states {key}", asked, works, lambda uid: [request(uid)])
        window = model.context_window
        for _ in unknown:
            low, expected, high = (share * window for share in _CONTEXT_SHARES)
            asked.like_those_known((1, 1, 1), (low, expected, high))
        return self._estimated(key, asked, len(works), len(unknown))

    def _charts(self, split: Split, model: ModelSpec) -> Estimate:
        # Where stage 1 left no valid J stage 2 is not asked: its key then names the state's status.
        key = PartitionKey("rendered_charts", split=split, model=model.slug)
        works = [
            work
            for work in self._to_do(key)
            if work.blocked is not None or isinstance(work.key.parts.get("state"), str)
        ]
        stage = self._bench.rendered_charts()
        asked = _Asked(model, "stage2")

        def requests(uid: str) -> list[ChatRequest]:
            return [stage.request(find_instance(self._bench.library, uid, split), model)]

        unknown = self._count(f"rendered_charts {key}", asked, works, requests)
        for _ in unknown:
            asked.like_those_known((_LEAST_VALID, 1, 1), _STAGE2_INPUT)
        return self._estimated(key, asked, len(works), len(unknown))

    def _verdicts(self, split: Split, model: ModelSpec) -> Iterator[Estimate]:
        key = PartitionKey("visual_accuracy", split=split, model=model.slug)
        works = [work for work in self._to_do(key) if work.blocked is not None or work.key.parts.get("chart")]
        stage = self._bench.visual_accuracy()
        for judge, own in self._by_judge(works, self._bench.settings.judge):
            asked = _Asked(judge, "judge")

            def requests(uid: str) -> list[ChatRequest]:
                return stage.requests(self._bench.library.query(uid), split, model)

            unknown = self._count(f"visual_accuracy {key}", asked, own, requests)
            for _ in unknown:
                low, expected, high = _QUESTIONS
                asked.like_those_known((low * _LEAST_VALID, expected, high), _JUDGE_INPUT)
            yield self._estimated(key, asked, len(own), len(unknown))

    def _rubrics(self, split: Split) -> Iterator[Estimate]:
        key = PartitionKey("rubrics", split=split)
        works = [work for work in self._to_do(key) if work.uid not in self._rubrics_seen]
        # A record without a reference chart has no rubric: its key says so.
        works = [work for work in works if work.blocked is not None or work.key.parts.get("chart") is not None]
        self._rubrics_seen |= {work.uid for work in works}
        stage = self._bench.rubrics()
        by_pair: dict[tuple[str, str], list[Work]] = {}
        for work in works:
            query = self._query(work)
            by_pair.setdefault((self._writer(query).slug, self._checker(query).slug), []).append(work)
        for own in by_pair.values():
            query = self._query(own[0])
            asked = _Asked(self._writer(query), "rubric")

            def requests(uid: str) -> list[ChatRequest]:
                return stage.requests(self._bench.library.query(uid))

            unknown = self._count(f"rubrics {split.value}", asked, own, requests)
            for _ in unknown:
                asked.like_those_known((_ASPECTS, _ASPECTS, _ASPECTS), _RUBRIC_INPUT)
            for _ in own:
                asked.like_those_known(_REPLACEMENTS, _RUBRIC_INPUT)
            yield self._estimated(key, asked, len(own), len(unknown))
            checks = _Asked(self._checker(query), "judge")
            for _ in own:
                checks.guess(_QUESTIONS, _JUDGE_INPUT)
            yield self._estimated(key, checks, len(own), len(own))

    def _query(self, work: Work) -> Query:
        return self._bench.library.query(work.uid)

    def _writer(self, query: Query) -> ModelSpec:
        return self._bench.judges.writer_for(query.benchmark, self._bench.settings.rubric_writer)

    def _checker(self, query: Query) -> ModelSpec:
        return self._bench.judges.judge_for(query.benchmark)

    def _by_judge(self, works: Sequence[Work], override: str | None) -> list[tuple[ModelSpec, list[Work]]]:
        found: dict[str, tuple[ModelSpec, list[Work]]] = {}
        for work in works:
            judge = self._bench.judges.judge_for(self._query(work).benchmark, override)
            found.setdefault(judge.slug, (judge, []))[1].append(work)
        return list(found.values())

    def _count(
        self, what: str, asked: _Asked, works: Sequence[Work], requests: Callable[[str], list[ChatRequest]]
    ) -> list[Work]:
        """Counts the requests of every work that can be built; hands back the works whose cannot."""
        unknown: list[Work] = []

        def count(work: Work) -> list[tuple[int, bool]] | None:
            if work.blocked is not None:
                return None
            try:
                return [(self._tokens(request), self._is_stored(request)) for request in requests(work.uid)]
            except DeepChartError:
                return None  # the run will say what is missing; here its size is guessed

        # Counting a long context takes a second, most of it outside the interpreter.
        with ThreadPoolExecutor(max_workers=min(4, self._bench.settings.workers)) as pool:
            for number, (work, sizes) in enumerate(zip(works, pool.map(count, works), strict=True), start=1):
                if self._progress:
                    self._progress(what, number, len(works))
                if sizes is None:
                    unknown.append(work)
                    continue
                asked.counted += [tokens for tokens, stored in sizes if not stored]
                asked.cached += sum(stored for _, stored in sizes)
        return unknown

    def _is_stored(self, request: ChatRequest) -> bool:
        return not request.model.scripted and self._cache.get(request.key().digest) is not None

    @staticmethod
    def _tokens(request: ChatRequest) -> int:
        sizes = Preview.of(request)
        return sizes.text_tokens + sizes.picture_tokens

    def _estimated(self, key: PartitionKey, asked: _Asked, instances: int, guessed: int) -> Estimate:
        name = asked.model.litellm_model
        out = self._history.output(name, asked.purpose)
        ratio = self._history.input_ratio(name, asked.purpose)
        exact = float(len(asked.counted))
        calls = _sum((Range(exact, exact, exact), *(each for each, _ in asked.guessed)))
        counted = float(sum(asked.counted))
        given = Range(counted * ratio.low, counted * ratio.expected, counted * ratio.high)
        given += _sum(
            Range(
                number.low * size.low * ratio.low,
                number.expected * size.expected * ratio.expected,
                number.high * size.high * ratio.high,
            )
            for number, size in asked.guessed
        )
        made = Range(calls.low * out.low, calls.expected * out.expected, calls.high * out.high)
        return Estimate(
            asset=key.asset,
            split=key.split.value if key.split else None,
            backend=key.backend.value if key.backend else None,
            model=key.model,
            asked=asked.model.slug,
            instances=instances,
            cached=asked.cached,
            guessed=guessed,
            calls=calls,
            input_tokens=given,
            output_tokens=made,
            price=_price(asked.model, given, made),
        )


def _price(model: ModelSpec, given: Range, made: Range) -> Range | None:
    if not model.prices.known:
        return None
    pairs = ((given.low, made.low), (given.expected, made.expected), (given.high, made.high))
    low, expected, high = (price_usd(model.prices, Usage(round(tokens), round(out))) or 0.0 for tokens, out in pairs)
    return Range(low, expected, high)


def asking_assets(selection: str) -> list[str]:
    """The assets of a selection that ask models: names with commas between them, ``name+`` with what is made from it,
    ``*`` all. Raises UsageError for a name that is none, and where nothing selected asks anybody."""
    chosen: set[str] = set()
    for part in selection.split(","):
        name = part.strip()
        if name == "*":
            chosen |= {each.name for each in NODES}
        elif name.endswith("+"):
            chosen |= _with_downstream(node(name.rstrip("+")).name)
        else:
            chosen.add(node(name).name)
    asking = [name for name in ASKING if name in chosen]
    if not asking:
        raise UsageError(f"{selection} asks no model.", remedy=f"These do: {', '.join(ASKING)}.")
    return asking


def _with_downstream(name: str) -> set[str]:
    found = {name}
    for each in NODES:  # in the order of the pipeline
        if found & set(each.upstream):
            found.add(each.name)
    return found

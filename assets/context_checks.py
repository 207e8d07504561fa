"""Whether contexts are answerable and give nothing away (paper, section 3.1), as checks of context_variants.

They read the references, so they come after both where both are made in one run. Non-blocking. In a benchmark whose
references we compute from its documents (the built-in one), a missing value or a leak is our own mistake: an error.
Published references hold what no document states (derived columns, averages), which makes it a warning there.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from deepchart_dagster.benchmark.model import Split
from deepchart_dagster.partitions import splits
from resources import BenchmarkResource, StorageResource, open_workbench

if TYPE_CHECKING:
    from deepchart_dagster.scoring.context_checks import ContextCheck

NO_LEAKS = "no_leaks"
ANSWERABLE = "answerable"
_LISTED = 20


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            NO_LEAKS,
            asset="context_variants",
            partitions_def=splits,
            additional_deps=["references"],
            description="No context shows the reference chart or the derived data of its instance.",
        ),
        dg.AssetCheckSpec(
            ANSWERABLE,
            asset="context_variants",
            partitions_def=splits,
            additional_deps=["references"],
            description="Every source value of the reference stands in the context, in the units that it states.",
        ),
    ],
)
def context_checks(
    context: dg.AssetCheckExecutionContext, storage: StorageResource, benchmark: BenchmarkResource
) -> Iterator[dg.AssetCheckResult]:
    with open_workbench(storage, benchmark) as bench:
        checks = bench.context_checks().run(Split(context.partition_key))
    yield _result(NO_LEAKS, checks, [one for one in checks if one.leaks], _leaks)
    yield _result(ANSWERABLE, checks, [one for one in checks if one.unanswerable], _missing)


def _result(
    name: str, checks: "Sequence[ContextCheck]", bad: "Sequence[ContextCheck]", listing: "Callable[[ContextCheck], str]"
) -> dg.AssetCheckResult:
    """Passed where every instance could be looked at and none is bad. No instance at all is nothing to complain of."""
    unchecked = [one for one in checks if one.problem]
    lines = [f"* `{one.uid}` {listing(one)}" for one in bad[:_LISTED]]
    lines += [f"* `{one.uid}` not checked: {(one.problem or '')[:300]}" for one in unchecked[:_LISTED]]
    own = any(one.is_own for one in bad)
    return dg.AssetCheckResult(
        check_name=name,
        asset_key="context_variants",
        passed=not bad and not unchecked,
        severity=dg.AssetCheckSeverity.ERROR if own else dg.AssetCheckSeverity.WARN,
        description=f"{len(bad)} of {len(checks)} instances" if bad else "",
        metadata={
            "n_instances": len(checks),
            "n_listed": len(bad),
            "n_unchecked": len(unchecked),
            **({"instances": dg.MetadataValue.md("\n".join(lines))} if lines else {}),
        },
    )


def _leaks(one: "ContextCheck") -> str:
    return "; ".join(f"{leak.place}: {leak.message}" for leak in (one.found.leaks if one.found else ()))


def _missing(one: "ContextCheck") -> str:
    values = one.found.unanswerable if one.found else ()
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return f"lacks {', '.join(f'{value.value:.10g}' for value in values[:_LISTED])}{more}"

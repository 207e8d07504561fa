"""Which sandbox tiers this host has, found by running a program in each, and choosing one.

namespaces   a private root, process table and network (keeper/namespaces.py)
landlock     rules on paths and no sockets, for hosts that forbid user namespaces (keeper/folders.py)
container    a container of a Docker engine, for hosts that have neither (container/)
trusted      limits only; never chosen unless named
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from deepchart_dagster.errors import InfrastructureError, SandboxUnavailable
from deepchart_dagster.execution.sandbox.keeper import landlock, seccomp
from deepchart_dagster.execution.sandbox.keeper.request import Report

SAFE_TIERS = ("namespaces", "landlock", "container")
TIERS = (*SAFE_TIERS, "trusted")
PROBE = b"import sys\nopen(sys.argv[1], 'w').write('{}')\n"

_REMEDY = (
    "Allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0 or "
    "kernel.unprivileged_userns_clone=1), use Linux 6.7 or later with Landlock, or start a container engine; "
    "`deepchart doctor` shows what is there. Only if you trust every program: DEEPCHART_SANDBOX=trusted runs them "
    "without isolation."
)
_CONTAINER_REMEDY = (
    "The tier container needs a Docker engine that this user may use: DOCKER_HOST (or DEEPCHART_CONTAINER_ENGINE) "
    "holds its address, as in unix:///var/run/docker.sock. Nothing is pulled."
)


@dataclass(frozen=True)
class TierState:
    """``reason`` says why the tier cannot be had; empty where it can."""

    name: str
    available: bool
    reason: str = ""


def examine(tier: str, run_probe: Callable[[str], Report]) -> TierState:
    """``run_probe`` runs PROBE in the named tier."""
    if reason := _obstacle(tier):
        return TierState(tier, False, reason)
    try:
        report = run_probe(tier)
    except InfrastructureError as error:
        return TierState(tier, False, error.message.rstrip("."))
    if report.ended == "exit" and report.wait_status == 0 and report.output_state == "ok":
        return TierState(tier, True)
    reason = report.error or report.stderr_tail.strip() or f"the probe ended with {report.ended} {report.wait_status}"
    return TierState(tier, False, reason.strip().splitlines()[-1])


def _obstacle(tier: str) -> str:
    if sys.platform != "linux":
        return "needs Linux"
    if tier in SAFE_TIERS and not seccomp.supported():
        return "needs an x86_64 or aarch64 machine"
    if tier == "landlock" and landlock.abi() < landlock.MINIMUM_ABI:
        return f"needs Landlock ABI {landlock.MINIMUM_ABI} (Linux 6.7); this kernel has {landlock.abi() or 'none'}"
    return ""


def choose(wanted: str, run_probe: Callable[[str], Report]) -> str:
    """The name of the tier to use: ``wanted`` itself, or with "auto" the best safe one.

    Raises SandboxUnavailable, with the reason of each tier, where there is none.
    """
    failed = []
    for tier in SAFE_TIERS if wanted == "auto" else (wanted,):
        state = examine(tier, run_probe)
        if state.available:
            return tier
        failed.append(f"{tier}: {state.reason}")
    remedy = _CONTAINER_REMEDY if wanted == "container" else _REMEDY
    raise SandboxUnavailable(f"No sandbox for generated programs ({'; '.join(failed)}).", remedy=remedy)

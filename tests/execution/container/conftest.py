"""An engine's address, a client and a runner for the tests of containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from execution_container import runner_at

from deepchart_dagster.execution.runner import LocalRunner

if TYPE_CHECKING:
    from docker import DockerClient


@pytest.fixture(scope="session")
def address(container_engine: Any) -> str:
    return str(container_engine.address)


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[DockerClient]:
    import docker

    client = docker.DockerClient(address)
    yield client
    client.close()


@pytest.fixture
def runner(address: str) -> Iterator[LocalRunner]:
    with runner_at(address) as runner:
        yield runner

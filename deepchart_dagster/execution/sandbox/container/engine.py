"""The container engine: finding it, saying in words why it cannot be used, sweeping what dead pipelines left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deepchart_dagster.execution.sandbox.container import owner

if TYPE_CHECKING:
    from docker import APIClient

LABEL = "deepchart.programs"  # on every container and image of ours
OWNER_LABEL = "deepchart.owner"  # on containers: the process they belong to
_USUAL_ADDRESS = "unix:///var/run/docker.sock"
_TIMEOUT_S = 60
_NOT_FOUND, _CONFLICT = 404, 409
_LIMITS = {"MemoryLimit": "memory", "PidsLimit": "processes", "CpuCfsQuota": "cores"}  # as its info calls them


class EngineError(Exception):
    """The engine is not there, or would not do what it was asked. The message fits after a colon."""


class ImageGone(EngineError):
    """An image that was there is not any more."""


@dataclass(frozen=True)
class Engine:
    """A connection to an engine. Its calls may raise what ``engine_errors`` turns into EngineError."""

    api: APIClient
    address: str

    @classmethod
    def connect(cls, address: str | None) -> Engine:
        """``address`` None: DOCKER_HOST, else the usual one. Raises EngineError."""
        try:
            import docker
        except ImportError as error:
            raise EngineError(
                "the Python package docker is not installed; install the project's extra: "
                ".venv/bin/python -m uv pip install -c requirements.lock -e '.[docker]'"
            ) from error
        shown = address or os.environ.get("DOCKER_HOST") or _USUAL_ADDRESS
        with engine_errors(shown):
            client = docker.from_env(timeout=_TIMEOUT_S, environment={**os.environ, "DOCKER_HOST": shown})
            return cls(client.api, shown)

    def close(self) -> None:
        self.api.close()

    def cpus(self) -> int:
        """How many cores it has. Raises EngineError, also where it would leave limits out, which it does in silence."""
        with engine_errors(self.address):
            facts = self.api.info()
        missing = [what for name, what in _LIMITS.items() if not facts.get(name)]
        if missing:
            raise EngineError(
                f"the container engine at {self.address} cannot limit {', '.join(missing)}; run it as root, or "
                "delegate cgroups to its user"
            )
        return int(facts["NCPU"])

    def sweep(self) -> None:
        """Removes containers of ours whose process is gone. Raises EngineError."""
        with engine_errors(self.address):
            for found in self.api.containers(all=True, filters={"label": OWNER_LABEL}):
                if owner.is_gone(found["Labels"].get(OWNER_LABEL, "")):
                    self.remove(found["Id"])

    def remove(self, container: str) -> None:
        """Ends and removes it; it may be gone already, or going."""
        from docker.errors import APIError

        try:
            self.api.remove_container(container, force=True, v=True)
        except APIError as error:
            if error.status_code == _CONFLICT:  # it ended by itself, and the engine is removing it
                with suppress(APIError):
                    self.api.wait(container, condition="removed")
            elif error.status_code != _NOT_FOUND:
                raise

    def remove_unused_images(self) -> None:
        """Images of ours that no container uses: each takes milliseconds to make again."""
        from docker.errors import APIError

        for image in self.api.images(filters={"label": LABEL}):
            with suppress(APIError):  # in use, or removed by another pipeline meanwhile
                self.api.remove_image(image["Id"])

    def ran_out_of_memory(self, container: str, since: float, until: float) -> bool:
        """Whether the kernel ended something in it for want of memory. Times as of time.time()."""
        filters = {"container": container, "event": "oom"}
        with engine_errors(self.address):
            return any(True for _ in self.api.events(since=int(since), until=int(until) + 1, filters=filters))


@contextmanager
def engine_errors(address: str) -> Iterator[None]:
    """Raises EngineError for everything that can go wrong in talking to the engine at ``address``."""
    from docker.errors import APIError, DockerException, ImageNotFound
    from requests.exceptions import RequestException

    try:
        yield
    except ImageNotFound as error:
        raise ImageGone(f"the container engine at {address} has the image no more: {error.explanation}") from error
    except APIError as error:
        if "bind source path does not exist" in str(error):
            raise EngineError(
                f"the container engine at {address} does not see this machine's files; name an image with the same "
                "Python and packages in DEEPCHART_CONTAINER_IMAGE"
            ) from error
        raise EngineError(f"the container engine at {address} refused: {error.explanation or error}") from error
    except (DockerException, RequestException, OSError) as error:
        raise EngineError(f"no container engine answers at {address}{_hint(error)}") from error


def _hint(error: Exception) -> str:
    text = str(error)
    if "Permission denied" in text:
        return ": this user may not use it (its socket belongs to a group, often `docker`)"
    if any(sign in text for sign in ("No such file", "Connection refused", "Connection aborted")):
        return "; start one (dockerd), or name another's address in DOCKER_HOST"
    return f": {text}"

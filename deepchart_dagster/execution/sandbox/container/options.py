"""What a user may set about containers."""

from __future__ import annotations

from dataclasses import dataclass

from deepchart_dagster.settings import Settings


@dataclass(frozen=True)
class ContainerOptions:
    """image    what containers start from; None: a skeleton that shows this machine's interpreter and libraries
    engine   address of the container engine; None: DOCKER_HOST, else the usual one
    """

    image: str | None = None
    engine: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> ContainerOptions:
        return cls(settings.container_image, settings.container_engine)

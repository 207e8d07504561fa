"""Resources as parts of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from deepchart_dagster.settings import load_settings

if TYPE_CHECKING:
    from deepchart_dagster.workbench import Workbench


class SettingsResource(dg.ConfigurableResource[None]):
    """A resource whose fields are fields of deepchart_dagster.settings.Settings; None: from the environment."""

    def overrides(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in type(self).model_fields if getattr(self, name) is not None}


def open_workbench(*resources: SettingsResource) -> Workbench:
    """A workbench with the settings of all ``resources`` on top of the environment. Use it in a ``with``."""
    from deepchart_dagster.workbench import Workbench  # all stages: not needed to load the graph

    overrides: dict[str, object] = {}
    for resource in resources:
        overrides.update(resource.overrides())
    return Workbench(load_settings(**overrides))

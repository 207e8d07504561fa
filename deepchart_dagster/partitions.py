"""What the assets are partitioned by.

Splits are the six of the benchmark. Models, judges and documents come and go with models.yaml, judges.yaml and
``deepchart documents add``: dynamic, brought in line by ``deepchart models sync``, by
``deepchart documents add`` and by the sensor in definitions. An instance is never a partition: a run costs about a
second, and a split holds up to 290 instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import dagster as dg

from deepchart_dagster.benchmark.model import Backend, Split

if TYPE_CHECKING:
    from deepchart_dagster.lineage.graph import PartitionKey

MODELS_NAME = "models"
DOCUMENTS_NAME = "documents"
JUDGES_NAME = "judges"

splits = dg.StaticPartitionsDefinition([split.value for split in Split])
models = dg.DynamicPartitionsDefinition(name=MODELS_NAME)
documents = dg.DynamicPartitionsDefinition(name=DOCUMENTS_NAME)
judges = dg.DynamicPartitionsDefinition(name=JUDGES_NAME)
model_splits = dg.MultiPartitionsDefinition({"model": models, "split": splits})
backends = dg.StaticPartitionsDefinition([backend.value for backend in Backend])
model_backends = dg.MultiPartitionsDefinition({"backend": backends, "model": models})


@dataclass(frozen=True)
class ModelSplit:
    """The two dimensions of one partition key."""

    model: str
    split: Split

    @classmethod
    def of(cls, context: dg.AssetExecutionContext) -> ModelSplit:
        dimensions = model_splits.get_partition_key_from_str(context.partition_key).keys_by_dimension
        return cls(model=dimensions["model"], split=Split(dimensions["split"]))

    @property
    def key(self) -> dg.MultiPartitionKey:
        return dg.MultiPartitionKey({"model": self.model, "split": self.split.value})


@dataclass(frozen=True)
class ModelBackend:
    """The two dimensions of a partition of the backend study."""

    model: str
    backend: Backend

    @classmethod
    def of(cls, context: dg.AssetExecutionContext) -> ModelBackend:
        dimensions = model_backends.get_partition_key_from_str(context.partition_key).keys_by_dimension
        return cls(model=dimensions["model"], backend=Backend(dimensions["backend"]))


def dagster_partition(key: PartitionKey) -> str:
    """The key of a partition as Dagster writes it: of two dimensions the values in the order of their names."""
    if key.model is None:
        return "".join(key.parts)
    dimensions = {"model": key.model}
    if key.split is not None:
        dimensions["split"] = key.split.value
    if key.backend is not None:
        dimensions["backend"] = key.backend.value
    return cast(str, dg.MultiPartitionKey(dimensions))


def sync_partitions(instance: dg.DagsterInstance, name: str, wanted: list[str]) -> PartitionChange:
    """Make the dynamic partitions ``name`` equal ``wanted``; what is stored for removed ones is kept."""
    present = set(instance.get_dynamic_partitions(name))
    added = [key for key in wanted if key not in present]
    removed = sorted(present - set(wanted))
    if added:
        instance.add_dynamic_partitions(name, added)
    for key in removed:
        instance.delete_dynamic_partition(name, key)
    return PartitionChange(added=tuple(added), removed=tuple(removed))


@dataclass(frozen=True)
class PartitionChange:
    added: tuple[str, ...]
    removed: tuple[str, ...]

"""What is stored and belongs to nothing any more: kept, said, and deleted only by ``deepchart prune``.

A partition is orphaned when its model is no longer in models.yaml or is not asked about that split any more, when its
judge is no longer in judges.yaml, or when its document is no longer registered; an instance when no benchmark has its
query any more, or not in that split. What is merely not selected (DEEPCHART_BENCHMARKS, DEEPCHART_ULTRA_LONG) is no
orphan.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from deepchart_dagster.artifacts.files import path_segment, storage_errors
from deepchart_dagster.benchmark.library import Library
from deepchart_dagster.benchmark.model import Backend, Instance, Split
from deepchart_dagster.lineage.graph import NODES, AssetNode, PartitionKey, PartitionKind
from deepchart_dagster.lineage.looks import State, look
from deepchart_dagster.llm.registry import ModelSpec
from deepchart_dagster.metrics.rows import partition_file
from deepchart_dagster.workbench import Workbench


@dataclass(frozen=True)
class Orphan:
    """A partition, or one instance of a partition (``uid``). ``paths`` are what is stored for it."""

    key: PartitionKey
    reason: str
    paths: tuple[Path, ...]
    uid: str | None = None

    @property
    def n_bytes(self) -> int:
        files = (file for path in self.paths for file in ([path] if path.is_file() else path.rglob("*")))
        return sum(file.stat().st_size for file in files if file.is_file())


def orphaned_partitions(bench: Workbench, assets: Iterable[AssetNode] = NODES) -> list[Orphan]:
    """In the order of the pipeline. Looks at names of folders alone."""
    belonging = _Belonging(bench)
    return [orphan for asset in assets for orphan in _partitions(bench, asset, belonging) if orphan.reason]


def orphaned_instances(bench: Workbench) -> list[Orphan]:
    """Of partitions that are none themselves. None where the storage holds no benchmark: nothing could be told."""
    belonging = _Belonging(bench)
    if not belonging.library.names():
        return []
    return [orphan for asset in NODES for orphan in _instances(bench, asset, belonging)]


def unanswered_judges(bench: Workbench) -> list[Orphan]:
    """Judges of the judge study that were tried, and every chart is in error: they left nothing but the attempt, which
    status would count as not fresh for ever, since nobody has to run the study."""
    return [
        _partition(bench, key, "every chart is in error: the judge was tried and answered nothing")
        for asset in NODES
        if asset.kind is PartitionKind.JUDGE
        for (judge,) in bench.artifacts.manifests(asset.name)
        if judge in bench.judges.judges
        for key in [PartitionKey(asset.name, judge=judge)]
        if look(bench, key).state is State.FAILED
    ]


def remove(bench: Workbench, orphan: Orphan) -> None:
    """Deletes what is stored for it. Raises StorageError where a step is working on that partition now."""
    partition = () if orphan.key.step.shared else orphan.key.parts
    with bench.artifacts.lock(orphan.key.asset, partition, wait_s=1.0):
        for path in orphan.paths:
            with storage_errors(path, "delete"):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


class _Belonging:
    """Which uids belong to a split or to a model in a split, whatever is selected at the moment."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.library = Library(bench.settings.storage)
        self._instances: dict[Split, list[Instance]] = {}
        self._of_models: dict[tuple[Split, str], frozenset[str]] = {}

    @cached_property
    def queries(self) -> frozenset[str]:
        return frozenset(query.uid for query in self.library.queries())

    @cached_property
    def documents(self) -> frozenset[str]:
        return frozenset(record.parent.name for record in self._bench.documents.records())

    def of_split(self, split: Split) -> frozenset[str]:
        return frozenset(one.uid for one in self._instances_of(split))

    def of_model(self, split: Split, model: str) -> frozenset[str]:
        """As generation.asking.asked_instances has them, each split read once for all models."""
        if (split, model) not in self._of_models:
            self._of_models[split, model] = frozenset(self._asked(split, self._bench.models[model]))
        return self._of_models[split, model]

    def _asked(self, split: Split, model: ModelSpec) -> Iterator[str]:
        if model.speaks(split.modality):
            yield from (one.uid for one in self._instances_of(split) if model.knows(one.query.benchmark))

    def _instances_of(self, split: Split) -> list[Instance]:
        if split not in self._instances:
            self._instances[split] = self.library.instances(split)
        return self._instances[split]


def _partitions(bench: Workbench, asset: AssetNode, belonging: _Belonging) -> Iterator[Orphan]:
    """Every stored partition by model, document or judge; ``reason`` is empty where it is no orphan."""
    root = bench.settings.storage / asset.name
    if asset.kind is PartitionKind.DOCUMENT:
        for folder in _folders(root):
            gone = folder.name not in belonging.documents
            key = PartitionKey(asset.name, document=folder.name)
            yield _partition(bench, key, "the document is not registered any more" if gone else "")
    if asset.kind is PartitionKind.JUDGE:
        for folder in _folders(root):
            gone = folder.name not in bench.judges.judges
            key = PartitionKey(asset.name, judge=folder.name)
            yield _partition(bench, key, f"{folder.name} is not in judges.yaml any more" if gone else "")
    for folder in _folders(root):
        for name in [] if asset.kind not in _BY_MODEL else [one.name for one in _folders(folder)]:
            if stored := _model_key(asset, folder.name, name):
                yield _partition(bench, stored, _why_no_model(bench, stored, name, belonging))


_BY_MODEL = (PartitionKind.MODEL_SPLIT, PartitionKind.MODEL_BACKEND)


def _model_key(asset: AssetNode, first: str, model: str) -> PartitionKey | None:
    """None for folders that no asset of ours made."""
    if asset.kind is PartitionKind.MODEL_SPLIT and first in set(Split):
        return PartitionKey(asset.name, split=Split(first), model=model)
    if asset.kind is PartitionKind.MODEL_BACKEND and first in set(Backend):
        return PartitionKey(asset.name, backend=Backend(first), model=model)
    return None


def _why_no_model(bench: Workbench, key: PartitionKey, model: str, belonging: _Belonging) -> str:
    if model not in bench.models:
        return f"{model} is not in models.yaml any more"
    if key.split and belonging.library.names() and not belonging.of_model(key.split, model):
        return f"{model} is not asked about {key.split} any more"
    return ""


def _partition(bench: Workbench, key: PartitionKey, reason: str) -> Orphan:
    store = bench.artifacts
    paths = (
        bench.settings.storage.joinpath(key.asset, *key.parts),
        store.partition_path(key.asset, key.parts, ".jsonl"),
        partition_file(bench.settings.storage, key.asset, key.parts),
    )
    return Orphan(key, reason, tuple(path for path in paths if path.exists()))


def _instances(bench: Workbench, asset: AssetNode, belonging: _Belonging) -> Iterator[Orphan]:
    root = bench.settings.storage / asset.name
    if asset.shared:
        key = PartitionKey(asset.name)
        yield from _strays(root, belonging.queries, key, "no benchmark has the query any more")
    elif asset.kind is PartitionKind.SPLIT:
        for split in Split:
            key = PartitionKey(asset.name, split=split)
            yield from _strays(root / split.value, belonging.of_split(split), key, f"it is no part of {split} any more")
    elif asset.kind in _BY_MODEL:
        for partition in _partitions(bench, asset, belonging):
            key = partition.key
            if partition.reason or key.model is None:
                continue
            uids = belonging.of_model(key.split, key.model) if key.split else belonging.queries
            reason = f"{key.model} is not asked about it any more"
            yield from _strays(root.joinpath(*key.parts), uids, key, reason)


def _strays(folder: Path, uids: frozenset[str], key: PartitionKey, reason: str) -> Iterator[Orphan]:
    known = {path_segment(uid) for uid in uids}
    whole = Orphan(key, reason, ())
    for path in _folders(folder):
        if path.name not in known:
            yield replace(whole, uid=unquote(path.name.replace("~", "/")), paths=(path,))


def _folders(parent: Path) -> list[Path]:
    """Without our own (``_partitions``, ``_checkpoints``) and those that are being written."""
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if not path.name.startswith(("_", ".")) and path.is_dir())

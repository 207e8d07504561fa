"""DeepChart as a pipeline: contexts, predicted states, charts and scores, each with its lineage."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("deepchart-dagster")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+source"

__all__ = ["__version__"]

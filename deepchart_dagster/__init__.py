"""DeepChart as a pipeline: contexts, predicted states, charts and scores, each with its lineage."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """``__version__``, looked up when somebody asks: that takes a third of a command's start."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("deepchart-dagster")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+source"

"""Runs in the program's interpreter before its first line, and leaves the interpreter as a fresh one is.

When matplotlib's figure module arrives, savefig gets a listener that notes what the figure holds. Nothing is
imported that an interpreter does not import anyway: this runs at every start.
"""

import os
import sys

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120
_DRAWN = os.environ.pop("DEEPCHART_DRAWN", "")
os.environ.pop("PYTHONPATH", None)
sys.path[:] = [path for path in sys.path if path != _FOLDER]


class _FigureListener:
    """A finder that lets the real one find matplotlib.figure, and adds the hook once the module is there."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> object:
        if name != "matplotlib.figure":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_hook(module: object) -> None:
                execute(module)  # type: ignore[arg-type]
                _install(module)

            spec.loader.exec_module = execute_and_hook  # type: ignore[method-assign]
        return spec


def _install(figure_module: object) -> None:
    sys.path.insert(0, _FOLDER)
    try:
        from deepchart_drawn import recorder  # type: ignore[import-not-found]

        recorder.install(figure_module, f"{_DRAWN}/drawn.json")
    except Exception:  # noqa: BLE001 - the program comes first: without the hook its chart is only not described
        return
    finally:
        sys.path.remove(_FOLDER)


if _DRAWN:
    sys.meta_path.insert(0, _FigureListener())  # type: ignore[arg-type]

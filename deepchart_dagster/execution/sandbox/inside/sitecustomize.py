"""Runs in the program's interpreter before its first line, and leaves the interpreter as a fresh one is.

When matplotlib's figure module arrives, savefig gets a listener that notes what the figure holds. Nothing is
imported that an interpreter does not import anyway: this runs at every start.

In a fork server (keeper/server.py) this is where it waits: what is below comes to its end in each program's process.
"""

import os
import sys

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120
_DRAWN = os.environ.pop("DEEPCHART_DRAWN", "")
_SERVER = os.environ.pop("DEEPCHART_SERVER", "")
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

        recorder.install(figure_module)
    except Exception:  # noqa: BLE001 - the program comes first: without the hook its chart is only not described
        return
    finally:
        sys.path.remove(_FOLDER)
    if not _SERVER:
        _begin_recording()


def _begin_recording() -> None:
    try:
        sys.modules["deepchart_drawn.recorder"].begin(f"{_DRAWN}/drawn.json")
    except Exception:  # noqa: BLE001 - as above
        return


def _serve(start: int) -> None:
    """Returns in the processes of programs."""
    known = frozenset(sys.modules)
    sys.path.insert(0, _FOLDER)
    try:
        from keeper.server import serve  # type: ignore[import-not-found]
    except BaseException:  # noqa: BLE001 - this must not go on to a script, whatever it is
        os.write(2, b"the fork server's code cannot be loaded\n")
        os._exit(1)
    sys.path.remove(_FOLDER)
    sys.path_importer_cache.pop(_FOLDER, None)
    serve(start, known)


if _DRAWN:
    sys.meta_path.insert(0, _FigureListener())  # type: ignore[arg-type]
if _SERVER:
    _serve(int(_SERVER))
    _SERVER = ""
    if "deepchart_drawn.recorder" in sys.modules:
        _begin_recording()

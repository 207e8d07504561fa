"""Which libraries a program imports before it does anything else: what its fork server has ready.

Exactly those, with exactly the submodules that their import statements name: after `import matplotlib` alone,
`matplotlib.pyplot` must fail as it does in a fresh interpreter. Reading stops at the first statement that could
change what a later import does; libraries imported after it are imported by the program itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from deepchart_dagster.artifacts.python_source import parse_python

# Each library with what its import brings along (tests/execution/test_execution_imports.py asks the interpreter).
HEAVY: dict[str, frozenset[str]] = {
    name: frozenset(brings.split())
    for name, brings in {
        "numpy": "",
        "PIL.Image": "",
        "pandas": "numpy",
        "matplotlib": "numpy PIL.Image",
        "matplotlib.pyplot": "numpy PIL.Image matplotlib",
        "scipy": "numpy",
        "scipy.stats": "numpy scipy scipy.interpolate scipy.optimize",
        "scipy.interpolate": "numpy scipy scipy.optimize",
        "scipy.optimize": "numpy scipy",
        "scipy.signal": "numpy scipy scipy.stats scipy.interpolate scipy.optimize",
        "seaborn": "numpy PIL.Image pandas matplotlib matplotlib.pyplot scipy scipy.stats scipy.interpolate "
        "scipy.optimize",
    }.items()
}
# Of the standard library, for programs that import nothing heavy: most of what starting such a program costs. Beside a
# heavy library they are there already, or take a moment, and would only multiply the servers.
LIGHT: dict[str, frozenset[str]] = {
    "csv": frozenset({"re"}),
    "datetime": frozenset(),
    "json": frozenset({"re"}),
    "re": frozenset(),
    "statistics": frozenset({"re"}),
}
_HARMLESS_CALLS = ("warnings.filterwarnings", "warnings.simplefilter", "matplotlib.use", "mpl.use")


def import_set(source: str) -> tuple[str, ...]:
    """Names out of HEAVY, else out of LIGHT, sorted, without those that another one brings along.

    () for what cannot be parsed.
    """
    try:
        body = parse_python(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    imported = set(_imported(body))
    libraries = HEAVY if imported & HEAVY.keys() else LIGHT
    found = imported & libraries.keys()
    brought = {other for name in found for other in libraries[name]}
    return tuple(sorted(found - brought))


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    """Modules as the statements name them, up to the first statement that is not known to be harmless."""
    for statement in body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from _with_parents(alias.name)
        elif isinstance(statement, ast.ImportFrom):
            if statement.level == 0 and statement.module:
                yield from _with_parents(statement.module)
                yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif not _is_harmless(statement):
            return


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return not statement.decorator_list
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(target, ast.Name) for target in targets) and (
            statement.value is None or _is_plain(statement.value)
        )
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _is_harmless_call(statement.value)
    return isinstance(statement, ast.Pass)


def _is_plain(value: ast.expr) -> bool:
    """Calls nothing and subscribes to nothing."""
    plain = ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp | ast.BinOp | ast.operator
    return all(isinstance(part, plain | ast.unaryop | ast.expr_context) for part in ast.walk(value))


def _is_harmless_call(value: ast.expr) -> bool:
    """Quieter warnings; matplotlib's backend Agg, which it has anyway."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func) not in _HARMLESS_CALLS:
        return False
    first = value.args[0] if value.args else None
    return isinstance(first, ast.Constant) and str(first.value).lower() in ("ignore", "agg")

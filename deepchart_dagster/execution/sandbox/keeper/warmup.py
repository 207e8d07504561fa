"""What most programs do, done once in a fork server, so that its programs find it done.

The first run of a piece of library code is its slowest: attribute look-ups are not remembered yet, byte code is not
specialised, type pairs have no loops chosen; and each of these notes is a write into memory that the fork shares with
its server, a page to copy. None of them can be seen by a program except in time. What could be seen is undone: modules
that came along. Random numbers are not drawn, no warning is given, no setting is changed.

A call is a write as well, into the code object, which counts its users. The code of what nearly every program calls is
therefore laid together.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from . import arenas

_ROUNDS = 12  # after which byte code is specialised
_ROWS: list[dict[str, Any]] = [
    {"year": str(year), "name": name, "value": f"{value}.5", "share": value / 8, "when": f"{year}-0{value + 1}-01"}
    for value, (year, name) in enumerate((year, name) for year in (2021, 2022, 2023) for name in ("a", "b"))
]


def warm_up() -> list[object]:
    """Whatever of it has been imported; all modules are afterwards those of before. What is returned must be kept."""
    known = dict(sys.modules)
    _use_all(known, 1)
    kept = arenas.fill_holes()
    moved = _lay_together(_called_by(lambda: _use_most(known)))
    _use_all(known, _ROUNDS)
    for name in sys.modules.keys() - known.keys():
        parent, _, last = name.rpartition(".")
        if parent in known:
            vars(known[parent]).pop(last, None)
        del sys.modules[name]
    return [kept, moved]


def _use_all(known: dict[str, Any], rounds: int) -> None:
    for name, use in (("csv", _use_csv), ("json", _use_json), ("numpy", _use_numpy), ("pandas", _use_pandas)):
        if module := known.get(name):
            for _ in range(rounds):
                use(module)
    for _ in range(rounds):  # last: look-ups that are remembered in one place drive each other out
        _use_most(known)


def _called_by(run: Callable[[], None]) -> set[CodeType]:
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return called


def _lay_together(codes: set[CodeType]) -> list[object]:
    """Gives functions equal code that lies in one place. Returns the old: their room must not be taken by others."""
    moved: dict[CodeType, CodeType] = {}
    functions = [found for found in gc.get_objects() if type(found) is FunctionType and found.__code__ in codes]
    for function in functions:
        function.__code__ = _moved(function.__code__, codes, moved)
    return [*moved]


def _moved(code: CodeType, codes: set[CodeType], moved: dict[CodeType, CodeType]) -> CodeType:
    """With the code of the functions that it makes."""
    if code not in codes:
        return code
    if code not in moved:
        constants = [_moved(one, codes, moved) if type(one) is CodeType else one for one in code.co_consts]
        # What a function is called is counted as well: a copy, at the same place.
        name = code.co_qualname.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
        moved[code] = code.replace(co_consts=tuple(constants), co_qualname=name)
    return moved[code]


def _use_csv(csv: Any) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(_ROWS[0]))
    writer.writeheader()
    writer.writerows(_ROWS)
    text.seek(0)
    list(csv.DictReader(text))
    list(csv.reader(io.StringIO(text.getvalue())))


def _use_json(json: Any) -> None:
    text = json.dumps({"rows": _ROWS, "total": 1.5, "count": 3, "none": None}, indent=2)
    json.loads(text)
    json.dump(_ROWS, io.StringIO(), indent=2, ensure_ascii=False)
    json.dumps(_ROWS)


def _use_numpy(numpy: Any) -> None:
    numbers = numpy.array([row["share"] for row in _ROWS])
    whole = numpy.arange(len(numbers))
    for used in (numbers, whole):
        (used.sum(), used.mean(), used.std(), used.min(), used.max(), used.cumsum(), used.argsort(), used.tolist())
        (used + 1, used * 2.5, used - used, used / 2, used**2, used > 1, used[used > 1], float(used[0]))
    numpy.round(numbers, 2)
    numpy.linspace(0, 1, 5)
    numpy.percentile(numbers, 50)
    numpy.polyfit(whole, numbers, 1)
    numpy.zeros((2, 3)).reshape(3, 2).transpose()


def _use_pandas(pandas: Any) -> None:
    text = pandas.DataFrame(_ROWS).to_csv(index=False)
    pandas.read_csv(io.StringIO(text))
    table = pandas.DataFrame(_ROWS).astype({"year": int, "value": float})
    table["when"] = pandas.to_datetime(table["when"])
    table["double"] = table["value"] * 2
    table["part"] = (table["value"] / table["value"].sum() * 100).round(1)
    columns = pandas.DataFrame({"x": [1, 2, 3], "y": [1.5, 2.5, 4.0], "z": ["a", "b", "c"]})
    for key in ("year", "name"):
        sums = table.groupby(key)["value"].sum()
        growth = (sums.pct_change().dropna() * 100).round(2)
        (sums.to_dict(), growth.to_dict(), sums.tolist(), list(sums.items()), sums.index.tolist(), sums.sort_values())
        table.groupby(key).agg({"value": "mean", "share": "sum"}).reset_index()
    table.pivot_table(index="year", columns="name", values="value", aggfunc="sum").fillna(0)
    table.pivot(index="year", columns="name", values="share")
    table[table["year"] > 2021].sort_values("value", ascending=False).head(2)
    table.loc[table["name"] == "a", "value"].mean()
    columns.merge(columns, on="z")
    pandas.concat([columns, columns], ignore_index=True)
    columns.set_index("z").transpose()
    columns.describe()
    (columns["y"].max(), columns["y"].min(), columns["y"].std(), columns["y"].cumsum(), columns["z"].unique())
    columns["z"].map({"a": 1, "b": 2})
    columns["y"].apply(float)
    (list(columns.iterrows()), list(columns.itertuples()), columns.iloc[0].to_dict(), columns.values.tolist())
    (table.to_dict("records"), table.to_dict("list"), columns.to_dict(), columns["x"].astype(str).tolist())


def _use_most(known: dict[str, Any]) -> None:
    """As the rehearsal does, and nearly every program."""
    csv, json, pandas = (known.get(name) for name in ("csv", "json", "pandas"))
    rows = list(csv.DictReader(io.StringIO("year,name,value\n2021,a,1.5\n2021,b,2\n2022,a,3\n"))) if csv else _ROWS
    result: dict[str, Any] = {"rows": rows}
    if pandas:
        table = pandas.DataFrame(rows).astype({"year": int, "value": float})
        sums = table.groupby("year")["value"].sum()
        growth = (sums.pct_change().dropna() * 100).round(2)
        result |= {"sums": sums.to_dict(), "growth": growth.to_dict(), "rows": table.to_dict("records")}
    if json:
        json.dump(result, io.StringIO(), indent=2)


# A program as most are, as far as the libraries that are there allow.
REHEARSAL = b"""\
import csv
import io
import json
import sys

rows = list(csv.DictReader(io.StringIO("year,name,value\\n2021,a,1.5\\n2021,b,2\\n2022,a,3\\n")))
result = {"rows": rows, "total": sum(float(row["value"]) for row in rows)}
if pandas := sys.modules.get("pandas"):
    table = pandas.DataFrame(rows).astype({"year": int, "value": float})
    sums = table.groupby("year")["value"].sum()
    growth = (sums.pct_change().dropna() * 100).round(2)
    result |= {"sums": sums.to_dict(), "growth": growth.to_dict(), "rows": table.to_dict("records")}
with open("data.json", "w") as out:
    json.dump(result, out, indent=2)
if plot := sys.modules.get("matplotlib.pyplot"):
    figure, axes = plot.subplots()
    axes.bar([row["name"] for row in rows], [float(row["value"]) for row in rows])
    axes.set_title("values")
    figure.savefig("chart.png")
"""

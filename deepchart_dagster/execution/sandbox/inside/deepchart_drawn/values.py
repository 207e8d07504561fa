"""Numbers, dates, colours and tick labels as plain JSON values."""

import contextlib
import math
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

MAX_POINTS = 5000
MAX_TEXT = 300
Coordinate = float | str | None


def number(value: Any) -> float | None:
    """A finite float with 12 significant digits (hides 0.30000000000000004), else None."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return float(f"{found:.12g}") if math.isfinite(found) else None


def numbers(values: Iterable[Any]) -> list[float | None]:
    return [number(value) for value in plain_floats(values).ravel()[:MAX_POINTS]]


def plain_floats(values: Any) -> Any:
    """A float array without a mask: what was masked is NaN."""
    import numpy

    masked: Any = numpy.ma
    return masked.filled(masked.asarray(values, dtype=float), float("nan"))


def text(value: Any) -> str:
    return str(value)[:MAX_TEXT]


def label_of(artist: Any) -> str:
    """Its legend label; matplotlib's own placeholders start with an underscore."""
    found = str(artist.get_label() or "")
    return "" if found.startswith("_") else text(found)


def is_shown(item: Any) -> bool:
    """Whether a viewer can read this text."""
    from matplotlib.colors import to_rgba

    opacity = 1.0
    with contextlib.suppress(ValueError):
        opacity = to_rgba(item.get_color(), item.get_alpha())[3]
    return bool(item.get_visible() and item.get_text().strip() and opacity > 0)


def colour(value: Any) -> str | None:
    """``#rrggbb``, None for no colour or for several."""
    import numpy as np
    from matplotlib.colors import to_hex

    with contextlib.suppress(ValueError, TypeError, IndexError):
        if isinstance(value, np.ndarray) and value.ndim == 2:
            rows = {tuple(row) for row in value}
            return to_hex(next(iter(rows))) if len(rows) == 1 else None
        return to_hex(value)
    return None


class AxisReader:
    """Reads positions along one axis: as dates, as category names, or as numbers."""

    def __init__(self, axes: Any, axis: Any) -> None:
        self._axis = axis
        converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
        self._kind = type(converter).__name__ if converter is not None else ""
        self._period = getattr(axes, "freq", None) if axis.axis_name == "x" else None
        mapping = getattr(getattr(axis, "units", None), "_mapping", None) or {}
        self._names = {position: text(name) for name, position in mapping.items()}
        self._has_names = bool(self._names) or type(axis.get_major_locator()).__name__ == "FixedLocator"

    @property
    def is_date(self) -> bool:
        return "Date" in self._kind or "Datetime" in self._kind or self._period is not None

    def coordinate(self, position: Any) -> Coordinate:
        """A date in ISO 8601, a category's name, or a number."""
        found = number(position)
        if found is None:
            return None
        if self.is_date:
            return self._date(float(position))
        return self._names.get(int(found), found) if found.is_integer() else found

    def coordinates(self, positions: Any) -> list[Coordinate]:
        return [self.coordinate(position) for position in plain_floats(positions).ravel()[:MAX_POINTS]]

    def _date(self, position: float) -> str:
        """To the millisecond: a date is a count of days there, and a float holds no more."""
        if self._period is not None:
            import pandas

            moment = pandas.Period(ordinal=int(position), freq=self._period).to_timestamp().to_pydatetime()
        else:
            import matplotlib.dates

            dates: Any = matplotlib.dates
            moment = dates.num2date(position).replace(tzinfo=None)
        moment += timedelta(microseconds=500)
        moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        is_midnight = not (moment.hour or moment.minute or moment.second or moment.microsecond)
        return str(moment.date().isoformat() if is_midnight else moment.isoformat())

    def ticks(self) -> list[dict[str, Any]]:
        """Ticks within the view with their labels as drawn."""
        low, high = sorted(self._axis.get_view_interval())
        slack = (high - low) * 1e-9
        return [
            {"at": self.coordinate(tick.get_loc()), "label": text(_label_text(tick))}
            for tick in self._axis.get_major_ticks()[:1000]
            if low - slack <= tick.get_loc() <= high + slack
        ]

    def names_at(self, positions: list[float | None], reach: float) -> list[str]:
        """What stands at each position: the nearest fixed tick label within ``reach``, else the position itself."""
        ticks = [(tick.get_loc(), _label_text(tick)) for tick in self._axis.get_major_ticks()]
        labelled = [(at, label) for at, label in ticks if label]
        return [self._name_at(position, reach, labelled) for position in positions]

    def _name_at(self, position: float | None, reach: float, labelled: list[tuple[float, str]]) -> str:
        if position is None:
            return ""
        if self.is_date:
            return self._date(position)
        if labelled:
            at, label = min(labelled, key=lambda tick: abs(tick[0] - position))
            distance = abs(at - position)
            if distance <= 1e-6 or (self._has_names and distance <= reach):
                return text(label)
        return f"{position:g}"

    def limits(self) -> list[Coordinate]:
        low, high = (number(edge) for edge in self._axis.get_view_interval())
        if self.is_date:
            return [self.coordinate(low), self.coordinate(high)]
        return [low, high]


def _label_text(tick: Any) -> str:
    return str(tick.label1.get_text() or tick.label2.get_text())


class Names:
    """Labels of series by their colour, from every legend of the figure: seaborn labels no bar."""

    def __init__(self, legends: list[dict[str, Any]]) -> None:
        found: dict[str, set[str]] = {}
        for legend in legends:
            for entry in legend["entries"]:
                if entry["color"]:
                    found.setdefault(entry["color"], set()).add(entry["label"])
        self._labels = {entry["label"] for legend in legends for entry in legend["entries"]}
        self._by_colour = {value: next(iter(labels)) for value, labels in found.items() if len(labels) == 1}

    def of(self, label: str, value: str | None) -> str:
        """``label``, or what the legend calls the colour ``value``."""
        return label or (self._by_colour.get(value, "") if value else "")

    def has(self, label: str) -> bool:
        return label in self._labels

    def knows(self, value: str | None) -> bool:
        return value in self._by_colour

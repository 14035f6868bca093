"""Figures: the values that a lesson computes from the result of a step, and that its document shows.

A record of a lesson contains the figures as JSON, so the words of a document can change without a new measurement.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from harness.rendering.tables import Cell
from lessons.engine.interval import Interval

MOST_RECORDED_SAMPLES: Final = 200
"""A record keeps at most this number of samples, evenly spaced in their sorted order. A histogram needs no more."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A figure that this machine cannot measure. `reason` names what is missing, and how to get it."""

    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("A figure that is lacking needs a reason.")

    def __getitem__(self, _name: str) -> "Lacking":
        """Return this reason for each figure, because a step can be lacking as a whole."""
        return self


@dataclass(frozen=True, slots=True)
class Samples:
    """Measured values of which the document shows a histogram."""

    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table. A cell is a text, a number, or None for an unknown value."""

    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, made of characters for terminals, and as an SVG document."""

    text: str
    svg: str


Figure = bool | int | float | str | None | Interval | Lacking | Samples | Rows | Drawing
Figures = dict[str, Figure]
"""The figures of a step by name."""


def as_json(figure: Figure) -> object:
    """Return a figure as a JSON value. `from_json` returns the figure again."""
    match figure:
        case Interval(middle, low, high, noise):
            return {"interval": [_number(each) for each in (middle, low, high, noise)]}
        case Lacking(reason):
            return {"lacking": reason}
        case Samples(values):
            return {"samples": [_rounded(each) for each in _thinned(values)]}
        case Rows(rows):
            return {"rows": [[_number(each) for each in row] for row in rows]}
        case Drawing(text, svg):
            return {"drawing": text, "svg": svg}
        case _:
            return _number(figure)


def from_json(kept: object) -> Figure:
    """Return the figure that `as_json` converted to `kept`. Raise `ValueError` if `kept` is something else."""
    match kept:
        case {"interval": [middle, low, high, noise]}:
            return Interval(*(cast("float", _cell(each)) for each in (middle, low, high, noise)))
        case {"lacking": str(reason)}:
            return Lacking(reason)
        case {"samples": list(values)}:
            return Samples(tuple(map(float, values)))
        case {"rows": list(rows)}:
            return Rows(tuple(tuple(map(_cell, row)) for row in rows))
        case {"drawing": str(text), "svg": str(svg)}:
            return Drawing(text, svg)
        case {"number": str()} | str() | bool() | int() | float() | None:
            return cast("float", _cell(kept))
        case _:
            raise ValueError(f"{kept!r} is not a figure.")


def figures_as_json(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Return the figures of a step as a JSON object."""
    return {name: as_json(figure) for name, figure in figures.items()}


def figures_from_json(kept: Mapping[str, Any]) -> Figures:
    """Return the figures that `figures_as_json` converted. Raise `ValueError` if `kept` contains something else."""
    return {name: from_json(figure) for name, figure in kept.items()}


def _number(value: Cell) -> object:
    """Return a JSON value for a cell. JSON has no infinite numbers, and no NaN."""
    return {"number": str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _cell(kept: Any) -> Any:
    return float(kept["number"]) if isinstance(kept, dict) else kept


def _thinned(values: Sequence[float]) -> list[float]:
    ordered, most = sorted(values), MOST_RECORDED_SAMPLES
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")

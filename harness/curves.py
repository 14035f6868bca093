"""Curves on logarithmic scales, such as time against size: terminal text, or a small SVG with words beside it.

Pure functions from numbers to text. Both scales are logarithmic: what is twice as much is as far apart everywhere, so a
crossing at small sizes is as visible as one at large ones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.markup import escaped
from harness.units import number, seconds

Show = Callable[[float], str]
"""How a number is written, as in `harness.units`."""

Points = Sequence[tuple[float, float]]
"""(x, y) pairs, all positive."""

MARKS = "●○▲△■□◆◇"
"""What stands for each curve in turn; told apart by shape, not by colour."""

BOTH = "✕"
"""Stands where two curves meet in one place of the terminal."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """A logarithmic scale from `low` to `high`, mapped onto 0 to 1."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "_Scale":
        low, high = min(values), max(values)
        return cls(low, high) if low < high else cls(low / 2, high * 2)

    def share(self, value: float) -> float:
        return math.log(value / self.low) / math.log(self.high / self.low)


def curves(
    series: Mapping[str, Points], *, width: int = 56, height: int = 10, x_unit: Show = number, y_unit: Show = seconds
) -> str:
    """Return a plot of `height` lines of text, its scales, and a line that says which mark is which curve.

    Raises `ValueError` for no points, for a coordinate that is not positive and finite, and for more than eight curves.
    """
    across, up = _scales(series)
    places: dict[tuple[int, int], str] = {}
    for mark, points in zip(MARKS, series.values(), strict=False):
        for x, y in points:
            place = round(across.share(x) * (width - 1)), round((1 - up.share(y)) * (height - 1))
            places[place] = mark if places.get(place, mark) == mark else BOTH
    left = [y_unit(up.high), *[""] * (height - 2), y_unit(up.low)]
    margin = max(map(len, left))
    lines = [
        f"{label:>{margin}} │{''.join(places.get((column, row), ' ') for column in range(width))}".rstrip()
        for row, label in enumerate(left)
    ]
    ends = f"{x_unit(across.low)}{x_unit(across.high):>{width - len(x_unit(across.low))}}"
    entries = [f"{mark} {name}" for mark, name in zip(MARKS, series, strict=False)]
    if BOTH in places.values():
        entries.append(f"{BOTH} both")
    below = [f"└{'─' * width}", f" {ends}", *(f" {line}" for line in _filled(entries, width))]
    return "\n".join([*lines, *(f"{'':>{margin}} {line}" for line in below)])


def _filled(entries: Sequence[str], width: int) -> list[str]:
    """Put as many entries on a line as fit."""
    lines = [entries[0]]
    for entry in entries[1:]:
        longer = f"{lines[-1]}   {entry}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(entry)
    return lines


_WIDTH, _HEIGHT, _MARGIN = 520, 300, 34
_COLOURS = ("#1f5f99", "#b3261e", "#2d6a1f", "#6a3d9a", "#7a4b00", "#00606b", "#8c1d5a", "#444444")
"""Each at least 4.5:1 against white; the curves are told apart by their marks as well."""


def curves_svg(
    series: Mapping[str, Points],
    *,
    title: str,
    description: str = "",
    x_unit: Show = number,
    y_unit: Show = seconds,
) -> str:
    """Return the curves as a complete SVG document.

    `title` and `description` are what a screen reader says; each curve's ends are added to the description. Raises
    `ValueError` as `curves` does.
    """
    across, up = _scales(series)
    floor, wide = _HEIGHT - _MARGIN, _WIDTH - 2 * _MARGIN
    facts = " ".join(
        f"{name}: {y_unit(points[0][1])} at {x_unit(points[0][0])}, {y_unit(points[-1][1])} at {x_unit(points[-1][0])}."
        for name, points in series.items()
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escaped(title)}</title>",
        f"<desc>{escaped(f'{description} {facts}'.strip())}</desc>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<path d="M{_MARGIN} {_MARGIN}V{floor}H{_MARGIN + wide}" stroke="#444444" fill="none"/>',
    ]
    for number_, (name, points) in enumerate(series.items()):
        xy = [(_MARGIN + across.share(x) * wide, floor - up.share(y) * (floor - _MARGIN)) for x, y in points]
        lines += _svg_curve(name, number_, xy)
    labels = (
        (_MARGIN, floor + 16, "start", x_unit(across.low)),
        (_MARGIN + wide, floor + 16, "end", x_unit(across.high)),
        (_MARGIN + 4, floor - 4, "start", y_unit(up.low)),
        (_MARGIN + 4, _MARGIN - 6, "start", y_unit(up.high)),
    )
    return "\n".join([*lines, *(_svg_text(*label) for label in labels), "</svg>"]) + "\n"


def _svg_curve(name: str, place: int, xy: Sequence[tuple[float, float]]) -> list[str]:
    """Draw a line through its points, the mark at each, and a line of the legend."""
    colour, mark = _COLOURS[place], MARKS[place]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in xy)
    legend = _svg_text(_WIDTH - _MARGIN, _MARGIN + 16 * place, "end", f"{mark} {name}", colour)
    dots = (_svg_text(x, y + 4, "middle", mark, colour) for x, y in xy)
    return [f'<path d="M{path}" stroke="{colour}" fill="none"/>', *dots, legend]


def _svg_text(x: float, y: float, anchor: str, text: str, colour: str = "#222222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-family="sans-serif" '
        f'font-size="12">{escaped(text)}</text>'
    )


def _scales(series: Mapping[str, Points]) -> tuple[_Scale, _Scale]:
    points = [point for each in series.values() for point in each]
    if not points or not all(series.values()) or not all(0 < value < math.inf for point in points for value in point):
        raise ValueError("A plot needs curves with points, all of them positive and finite.")
    if len(series) > len(MARKS):
        raise ValueError(f"A plot shows up to {len(MARKS)} curves, not {len(series)}: nobody could tell them apart.")
    return _Scale.over([x for x, _ in points]), _Scale.over([y for _, y in points])

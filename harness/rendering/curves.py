"""Draw curves on two logarithmic scales, such as time against size, as terminal text or as an SVG picture.

On a logarithmic scale, doubling any value moves its point by the same distance. So the point where two curves cross is
as visible at small sizes as at large sizes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.rendering import svg
from harness.rendering.units import Format, number, seconds

Points = Sequence[tuple[float, float]]
"""The points of a curve: (x, y), all positive."""

MARKS = "●○▲△■□◆◇"
"""The marks of up to eight curves. They differ in shape, because some readers cannot distinguish colours."""

BOTH = "✕"
"""The mark that is drawn in the terminal where points of two curves have the same position."""


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "_Scale":
        low, high = min(values), max(values)
        return cls(low, high) if low < high else cls(low / 2, high * 2)

    def share(self, value: float) -> float:
        return math.log(value / self.low) / math.log(self.high / self.low)


def curves(
    series: Mapping[str, Points],
    *,
    width: int = 56,
    height: int = 10,
    x_unit: Format = number,
    y_unit: Format = seconds,
) -> str:
    """Return a text plot with `height` lines for the curves, with scales and a legend.

    Raise `ValueError` if there are no points, if a coordinate is not positive and finite, or if there are more than
    eight curves.
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
        entries.append(f"{BOTH} {'both' if len(series) == 2 else 'several'}")
    below = [f"└{'─' * width}", f" {ends}", *(f" {line}" for line in _filled(entries, width))]
    return "\n".join([*lines, *(f"{'':>{margin}} {line}" for line in below)])


def _filled(entries: Sequence[str], width: int) -> list[str]:
    lines = [entries[0]]
    for entry in entries[1:]:
        longer = f"{lines[-1]}   {entry}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(entry)
    return lines


_WIDTH, _HEIGHT, _MARGIN = 520, 300, 34
# Each colour has a contrast of at least 4.5:1 with white.
_COLOURS = ("#1f5f99", "#b3261e", "#2d6a1f", "#6a3d9a", "#7a4b00", "#00606b", "#8c1d5a", "#444444")


def curves_svg(
    series: Mapping[str, Points],
    *,
    title: str,
    description: str = "",
    x_unit: Format = number,
    y_unit: Format = seconds,
) -> str:
    """Return the curves as a complete SVG document.

    A screen reader reads `title`, `description`, and the first and last point of each curve. Raise `ValueError` as
    `curves` does for the same `series`.
    """
    across, up = _scales(series)
    floor, right, wide = _HEIGHT - _MARGIN, _WIDTH - _MARGIN, _WIDTH - 2 * _MARGIN
    facts = " ".join(
        f"{name}: {y_unit(points[0][1])} at {x_unit(points[0][0])}, {y_unit(points[-1][1])} at {x_unit(points[-1][0])}."
        for name, points in series.items()
    )
    shapes = [svg.line((_MARGIN, _MARGIN), (_MARGIN, floor), (right, floor))]
    for index, (name, points) in enumerate(series.items()):
        xy = [(_MARGIN + across.share(x) * wide, floor - up.share(y) * (floor - _MARGIN)) for x, y in points]
        shapes += _svg_curve(name, index, xy)
    shapes += [
        svg.label(_MARGIN, floor + 16, x_unit(across.low)),
        svg.label(right, floor + 16, x_unit(across.high), text_anchor="end"),
        svg.label(_MARGIN + 4, floor - 4, y_unit(up.low)),
        svg.label(_MARGIN + 4, _MARGIN - 6, y_unit(up.high)),
    ]
    return svg.document(_WIDTH, _HEIGHT, shapes, title=title, description=f"{description} {facts}")


def _svg_curve(name: str, index: int, xy: Sequence[tuple[float, float]]) -> list[str]:
    """Return a curve's SVG elements: a line through its points, a mark at each point, and its name in the legend."""
    colour, mark = _COLOURS[index], MARKS[index]
    legend = svg.label(_WIDTH - _MARGIN, _MARGIN + 16 * index, f"{mark} {name}", fill=colour, text_anchor="end")
    marks = (svg.label(x, y + 4, mark, fill=colour, text_anchor="middle") for x, y in xy)
    return [svg.line(*xy, stroke=colour), *marks, legend]


def _scales(series: Mapping[str, Points]) -> tuple[_Scale, _Scale]:
    points = [point for each in series.values() for point in each]
    if not points or not all(series.values()) or not all(0 < value < math.inf for point in points for value in point):
        raise ValueError("A plot needs curves with points, all of them positive and finite.")
    if len(series) > len(MARKS):
        raise ValueError(
            f"A plot can show at most {len(MARKS)} curves, not {len(series)}, because there are no more marks."
        )
    return _Scale.over([x for x, _ in points]), _Scale.over([y for _, y in points])

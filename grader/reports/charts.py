"""Draw the small charts of pages, with a description of each chart for screen readers.

A chart is `WIDTH` units wide. On a phone, one unit is about one pixel. The page's CSS classes set the colours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from markupsafe import Markup

from grader.task import Task
from harness.charts import pictures, svg
from harness.charts.pictures import Mark
from harness.charts.plots import Axis
from harness.rendering import measured, units

WIDTH: Final = 310
LEFT, RIGHT = 6, WIDTH - 6
TOP, FLOOR = 32, 104
"""The y positions of the top of a chart's tallest bar and of the bottom of its bars."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The shapes of a chart, as SVG. `label` describes the chart for screen readers."""

    label: str
    shapes: Markup
    height: int = 124
    width: int = WIDTH


def tier_marks(task: Task | None) -> tuple[Mark, ...]:
    """Return a task's grade thresholds as marked values for the axis of a chart."""
    return tuple(Mark(tier.ratio, f"tier {units.ratio(tier.ratio)}", "tier") for tier in task.tiers) if task else ()


def ratio_axis(values: Sequence[float], marks: Sequence[float] = ()) -> Axis:
    """Return a logarithmic axis that includes all finite ratios and marked values, with a small margin."""
    usable = [value for value in (*values, *marks) if 0 < value < math.inf]
    low, high = min(usable, default=1.0), max(usable, default=1.0)
    room = max((high / low) ** 0.05, 1.005)
    return Axis(low / room, high * room, LEFT, RIGHT, log=True)


def central_range(values: Sequence[float], share: float = 0.02) -> tuple[float, float]:
    """Return the lowest and highest value after the fraction `share` of the values is removed at each end."""
    ordered = sorted(values)
    cut = int(len(ordered) * share)
    return ordered[cut], ordered[-1 - cut]


def histogram(
    values: Sequence[float],
    axis: Axis,
    *,
    label: str,
    bins: int = 20,
    unit: units.Format = units.number,
    marks: Sequence[Mark] = (),
    band: tuple[float, float] | None = None,
) -> Chart:
    """Return a histogram with `bins` bars. Values outside the axis are counted in its first or last bar.

    `band` is an interval that is shaded behind the bars. `marks` are values to mark on the axis. `unit` shows a value
    as text.
    """
    shapes = pictures.histogram(values, axis, bins=bins, top=TOP, floor=FLOOR, unit=unit, marks=marks, band=band)
    marked = f" Marks: {', '.join(mark.text for mark in marks)}." if marks else ""
    return _chart(f"{label}: {describe(values, unit)}{marked}", shapes)


def describe(values: Sequence[float], unit: units.Format) -> str:
    """Return the number, range and median of the values as text, for users of screen readers."""
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return "no values."
    if known[0] == known[-1]:
        return f"{units.some(len(known), 'value')}, all {unit(known[0])}."
    half = f", half of them between {unit(known[len(known) // 4])} and {unit(known[-1 - len(known) // 4])}"
    return (
        f"{units.some(len(known), 'value')} from {unit(known[0])} to {unit(known[-1])}, median {unit(median(known))}"
        f"{half if len(known) > 4 else ''}."
    )


def ladder(ratio: float, low: float, high: float, tiers: Sequence[Mark], *, label: str) -> Chart:
    """Return a chart of a measured ratio, its interval from `low` to `high`, and grade thresholds on one axis."""
    axis, y = ratio_axis([ratio, low, high, 1.0], [tier.value for tier in tiers]), 38
    left, right, middle = map(axis.place, (low, high, ratio))
    words = measured.ratio(ratio, low, high)
    shapes = [
        svg.rect(left, y - 5, max(right - left, 2.0), 10, class_="interval"),
        svg.rect(middle - 1.5, y - 9, 3, 18, class_="bar"),
        svg.line((LEFT, y), (RIGHT, y)),
        *(svg.line((axis.place(t.value), y - 15), (axis.place(t.value), y + 15), class_=t.css_class) for t in tiers),
        svg.text(middle, y + 27, words, class_="strong", text_anchor=pictures.anchor(axis.share(ratio))),
        *pictures.mark_labels(axis, tiers, TOP - 19),
    ]
    return _chart(label, shapes, height=72)


def _chart(label: str, shapes: Sequence[str], height: int = 124) -> Chart:
    return Chart(label, Markup("\n".join(shapes)), height)  # noqa: S704 - `svg` has escaped all texts

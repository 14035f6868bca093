"""Draw histograms, bars and curves as SVG: complete pictures, and shapes for a chart in a page."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median
from textwrap import wrap
from typing import Final

from harness.charts import plots, svg
from harness.charts.plots import Axis
from harness.rendering.units import Format, count, known, number, seconds, some

_LOGARITHMIC_FROM: Final = 50  # the ratio of the largest to the smallest value

_WIDTH, _LEFT, _VALUES = 560, 8, 118
_LABEL, _BAR, _GAP, _LINE = 19, 15, 7, 19
_TITLE_CHARACTERS, _LABEL_CHARACTERS, _CHARACTER = 70, 74, 7.4


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that is marked on a histogram's axis with a line and a text, such as a grade threshold."""

    value: float
    text: str
    css_class: str = "mark"


@dataclass(frozen=True, slots=True)
class BarValue:
    """One bar: its value, the text, and the ends of its interval, if any. A value that is not finite has only text."""

    value: float
    text: str
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row of a chart: its label, and one bar per series. A bar is None if the series has no value there."""

    label: str
    bars: tuple[BarValue | None, ...]


def shortened(label: str, most: int) -> str:
    """Return the label with at most `most` characters. In a longer label, `…` replaces the middle."""
    if len(label) <= most:
        return label
    head = (most - 1) // 2
    return f"{label[:head]}…{label[head + 1 - most :]}"


def histogram_svg(samples: Sequence[float], *, title: str, unit: Format = seconds) -> str:
    """Return a histogram as a complete SVG document with a dashed line at the median.

    A screen reader reads `title`, and the number, range and median of the samples.
    """
    width, height, margin, bins = 480, 160, 24, 40
    axis = replace(plots.range_of(samples, bins), start=margin, end=width - margin)
    middle = median(samples)
    facts = f"{some(len(samples), 'sample')} from {unit(axis.low)} to {unit(axis.high)}, median {unit(middle)}."
    marks = [Mark(middle, f"median {unit(middle)}")]
    shapes = histogram(samples, axis, bins=bins, top=36, floor=height - margin, unit=unit, marks=marks)
    return svg.document(width, height, shapes, title=title, description=facts)


def histogram(
    values: Sequence[float],
    axis: Axis,
    *,
    bins: int,
    top: float,
    floor: float,
    unit: Format,
    marks: Sequence[Mark] = (),
    band: tuple[float, float] | None = None,
) -> list[str]:
    """Return the shapes of a histogram with `bins` bars between the places of the axis, and from `top` to `floor`.

    `band` is an interval that is shaded behind the bars.
    """
    counts = axis.counts(values, bins)
    edges = [unit(axis.value(at / bins)) for at in range(bins + 1)]
    tips = [f"{low} to {high}: {count(n)}" for low, high, n in zip(edges, edges[1:], counts, strict=False)]
    shade = []
    if band:
        left, right = map(axis.place, band)
        shade.append(svg.rect(left, top - 14, max(right - left, 1.0), floor - top + 14, class_="band"))
    lines = [svg.line((x := axis.place(each.value), top - 14), (x, floor), class_=each.css_class) for each in marks]
    return [
        *shade,
        *columns(counts, axis, top=top, floor=floor, tips=tips),
        *lines,
        *ends(axis, floor, unit(axis.low), unit(axis.high)),
        *peak(counts, axis, top),
        *mark_labels(axis, marks, top - 19),
    ]


def columns(
    heights: Sequence[float], axis: Axis, *, top: float, floor: float, tips: Sequence[str] = ()
) -> Iterator[str]:
    """Yield a bar for each height above zero. The tallest bar ends at `top`. The mouse pointer shows `tips`."""
    most = max(heights, default=0.0)
    pitch = (axis.end - axis.start) / max(len(heights), 1)
    for at, value in enumerate(heights):
        if value > 0:
            height, tip = max(value / most * (floor - top), 1.5), tips[at] if tips else ""
            yield svg.rect(axis.start + at * pitch, floor - height, pitch * 0.9, height, tip, class_="bar")


def peak(counts: Sequence[float], axis: Axis, top: float) -> list[str]:
    """Return the number of the tallest bar as a text above this bar, or nothing without bars."""
    most = max(counts, default=0.0)
    middle = axis.start + (counts.index(most) + 0.45) * (axis.end - axis.start) / len(counts) if most > 0 else 0.0
    return [svg.text(middle, top - 3, count(most), text_anchor="middle")] if most > 0 else []


def ends(axis: Axis, floor: float, begin: str, end: str) -> list[str]:
    """Return the line at the bottom of a chart, and a text at each of its ends."""
    return [
        svg.line((axis.start, floor), (axis.end, floor)),
        svg.text(axis.start, floor + 15, begin),
        svg.text(axis.end, floor + 15, end, text_anchor="end"),
    ]


def anchor(share: float) -> str:
    """Return the alignment of a label at a position from 0 to 1 on an axis, so that the label stays in the chart."""
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"


def mark_labels(axis: Axis, marks: Sequence[Mark], y: float) -> Iterator[str]:
    """Yield the labels of marked values. A label that would overlap another one is left out."""
    free = -math.inf
    for mark in sorted(marks, key=lambda one: one.value):
        where, x, wide = anchor(axis.share(mark.value)), axis.place(mark.value), 6.2 * len(mark.text)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[where]
        if left >= free:
            yield svg.text(x, y, mark.text, class_=mark.css_class, text_anchor=where)
            free = left + wide + 4


def curves_svg(series: Mapping[str, plots.Points], *, title: str, description: str) -> str:
    """Return times against counts, on logarithmic scales, as a complete SVG document.

    A screen reader also reads the first and last point of each curve. Raise `ValueError` as `plots.axes_of` does.
    """
    width, height, margin, line = 520, 300, 34, 16
    across, up = plots.axes_of(series, width - 2 * margin, height - 2 * margin)
    top = margin + line * len(series)  # the names of the curves are above the picture
    facts = " ".join(
        f"{name}: {seconds(points[0][1])} at {count(points[0][0])}, {seconds(points[-1][1])} at {count(points[-1][0])}."
        for name, points in series.items()
    )
    shapes = [svg.line((0, 0), (0, up.start)), *ends(across, up.start, count(across.low), count(across.high))]
    shapes.append(svg.text(across.end / 2, up.start + line, "size, logarithmic", text_anchor="middle"))
    for at, ((name, points), mark) in enumerate(zip(series.items(), plots.MARKS, strict=False)):
        xy = [(across.place(x), up.place(y)) for x, y in points]
        shapes.append(svg.line(*xy, class_=f"curve s{at}"))
        shapes += [svg.text(x, y + 4, mark, class_=f"s s{at}", text_anchor="middle") for x, y in xy]
        shapes.append(svg.text(0, line * (at - len(series) - 1), f"{mark} {name}", class_=f"s s{at}"))
    shapes += [svg.text(4, up.start - 4, seconds(up.low)), svg.text(4, -6, f"{seconds(up.high)}: time, logarithmic")]
    moved = svg.group(shapes, transform=f"translate({margin} {top})")
    return svg.document(width, height + line * len(series), [moved], title=title, description=f"{description} {facts}")


def bar_chart_svg(
    rows: Sequence[tuple[str, float]], *, title: str, description: str = "", unit: Format = number
) -> str:
    """Return an SVG document with one horizontal bar per row. Raise `ValueError` if there are no rows."""
    if not rows:
        raise ValueError("A bar chart needs one row or more.")
    drawn = [BarRow(label, (BarValue(value, known(value, unit)),)) for label, value in rows]
    return bar_rows_svg(title, [""], drawn, description=description)


def bar_rows_svg(
    title: str, names: Sequence[str], rows: Sequence[BarRow], *, description: str = "", may_be_log: bool = False
) -> str:
    """Return an SVG document with one bar per series in each row. `names` are the names of the series.

    With `may_be_log`, the axis is logarithmic if the values are positive and very different. Dots then replace bars.
    """
    lines = wrap(title, _TITLE_CHARACTERS)
    shapes = [svg.text(_LEFT, 18 + _LINE * at, line, font_weight=600) for at, line in enumerate(lines)]
    top = _LINE * len(lines) + 10
    if len(names) > 1:
        legend, top = _legend(names, top)
        shapes += legend
    axis = _bar_axis([bar for row in rows for bar in row.bars if bar], may_be_log=may_be_log)
    starts = list(accumulate((_LABEL + _BAR * len(row.bars) + _GAP for row in rows), initial=top))
    floor = starts[-1]
    if not axis.log:
        shapes.append(svg.line((axis.place(0.0), top), (axis.place(0.0), floor)))
    for y, row in zip(starts, rows, strict=False):
        shapes.append(svg.text(_LEFT, y + 14, shortened(row.label, _LABEL_CHARACTERS)))
        for at, bar in enumerate(row.bars):
            if bar is not None:
                shapes += _bar_shapes(bar, y + _LABEL + at * _BAR, axis, f"s s{at}")
    if axis.log:
        shapes.append(svg.text(_LEFT, floor + 13, "Logarithmic axis: equal distances are equal factors."))
        floor += _LINE
    facts = "; ".join(
        f"{row.label}: "
        + ", ".join(f"{name} {bar.text}".strip() for name, bar in zip(names, row.bars, strict=True) if bar)
        for row in rows
    )
    return svg.document(_WIDTH, floor + 4, shapes, title=title, description=f"{description} {facts}.")


def _bar_axis(bars: Sequence[BarValue], *, may_be_log: bool) -> Axis:
    values = [value for bar in bars for value in (bar.value, *(bar.ends or ())) if math.isfinite(value)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if may_be_log and low > 0 and high / low >= _LOGARITHMIC_FROM:
        return Axis(low / 1.3, high * 1.1, _LEFT, _WIDTH - _VALUES, log=True)
    low, high = min(0.0, low), max(0.0, high)
    return Axis(low, high if low < high else 1.0, _LEFT, _WIDTH - _VALUES)


def _bar_shapes(bar: BarValue, top: float, axis: Axis, series: str) -> Iterator[str]:
    yield svg.text(axis.end + 8, top + 12, bar.text)
    if not math.isfinite(bar.value):
        return
    x, middle = axis.place(bar.value), top + _BAR / 2
    if axis.log:
        yield svg.line((axis.start, middle), (axis.end, middle), stroke_width=0.5)
        yield svg.element("circle", cx=x, cy=middle, r=5, class_=series)
    elif bar.value:
        left, right = sorted((x, axis.place(0.0)))
        yield svg.rect(left, top + 2, max(right - left, 1), _BAR - 4, class_=series)
    if bar.ends and not any(map(math.isnan, bar.ends)):
        low, high = map(axis.place, bar.ends)
        yield svg.line((low, middle), (high, middle), class_="end", stroke_width=2)


def _legend(names: Sequence[str], top: int) -> tuple[list[str], int]:
    shapes, x, y = list[str](), float(_LEFT), top
    for at, name in enumerate(names):
        width = 30 + len(name) * _CHARACTER
        if x > _LEFT and x + width > _WIDTH:
            x, y = _LEFT, y + _LINE
        shapes += [svg.rect(x, y + 3, 12, 12, class_=f"s s{at}"), svg.text(x + 17, y + 14, name)]
        x += width
    return shapes, y + _LINE + 4

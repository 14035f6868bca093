"""Draw the tables, bars and histograms of a recorded run as SVG pictures for pages and slides.

A recorded run keeps only the texts of the screen. A chart shows each value with its recorded text beside its bar.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from harness.rendering import svg
from harness.rendering.bar_chart import shortened
from lessons.engine.markup import plain
from lessons.guide.chart_values import NUMBER, Axis, Reading, read
from lessons.guide.results import Shown

MOST_ROWS: Final = 12
MOST_BARS: Final = 20
"""The largest number of rows of a table, and of bars, that one chart shows."""

INTERVAL_HEADS: Final = (("at least", "at most"), ("from", "to"))
"""The names of two columns that contain the ends of the interval of the column before them."""

_WIDTH, _HALF, _LEFT, _VALUES = 560, 190, 8, 118
_LABEL, _BAR, _GAP, _LINE = 19, 15, 7, 19
_TITLE_CHARACTERS, _LABEL_CHARACTERS, _CHARACTER = 70, 74, 7.4
_SERIES: Final = ("#3b6ea5", "#b5651d", "#5f6368", "#2d6a1f", "#8c1d5a")
_STYLE: Final = "".join(f".s{at} {{ fill: {colour} }} " for at, colour in enumerate(_SERIES)) + (
    ".axis { stroke: #8a929c } .end { stroke: #222222 }\n@media (prefers-color-scheme:dark) { "
    ".s0 { fill: #7db8f5 } .s1 { fill: #edbb62 } .s2 { fill: #a3acb8 } .s3 { fill: #74d19c } .s4 { fill: #f0a1c4 } "
    ".axis { stroke: #6b7480 } .end { stroke: #e8e8e8 } }\n"
)
_TEXT_BAR: Final = re.compile(r"(?P<label>.*?\S) +(?P<bar>[█▏▎▍▌▋▊▉]* ?)(?P<value>[^█▏▎▍▌▋▊▉]+)")
_HISTOGRAM: Final = re.compile(r"(?P<low>\S.*?) (?P<bars>[▁-█][ ▁-█]{14}[▁-█]) (?P<high>\S.*)")
_LEVELS: Final = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart: its value, the recorded text of the value, and the ends of its interval, if any."""

    value: float
    text: str
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class BarRow:
    """One row of a chart: its label, and one bar per series. A bar is None if the table has no value there."""

    label: str
    bars: tuple[Bar | None, ...]


def with_charts(drawings: Sequence[str], shown: Sequence[Shown]) -> tuple[str, ...]:
    """Return the drawings of a step, followed by charts of what the step showed, except what a drawing shows too."""
    titles = {f"<title>{svg.escaped(plain(each.title))}</title>": each for each in shown}
    left = [each for title, each in titles.items() if not any(title in drawing for drawing in drawings)]
    return (*drawings, *filter(None, map(drawn, left)))


def drawn(shown: Shown) -> str:
    """Return an SVG picture of a table, of bars or of a histogram. Return "" if it has no numbers to draw."""
    if shown.rows:
        return _table(shown)
    return _text_bars(shown) or _histogram(shown)


def _table(shown: Shown) -> str:
    readings = [[read(row[at]) for row in shown.rows] for at in range(len(shown.heads))]
    first = next((at for at in range(len(shown.heads)) if _is_numeric(shown, readings, at)), None)
    if first is None or not 2 <= len(shown.rows) <= MOST_ROWS:
        return ""
    has_units = any(each and each.kind != NUMBER for each in readings[0])
    values_from = first if first or has_units else 1
    columns = _best_columns(shown, readings, values_from, labelled=first > 0)
    if not columns:
        return ""
    columns = columns[: max(1, MOST_BARS // len(shown.rows))]
    rows = []
    for number, cells in enumerate(shown.rows):
        words = [plain(cell) for cell in cells[:first] if cell]
        if not words:
            words = [f"row {number + 1}" if has_units else f"{shown.heads[0]}: {cells[0]}"]
        bars = tuple(_bar(shown, readings, number, at) for at in columns)
        rows.append(BarRow(", ".join(words), bars))
    return _chart(shown.title or shown.heads[columns[0]], [plain(shown.heads[at]).strip() for at in columns], rows)


def _is_numeric(shown: Shown, readings: Sequence[Sequence[Reading | None]], at: int) -> bool:
    """Return whether each cell of a column is a number or empty, and at least two cells are numbers."""
    found = sum(each is not None for each in readings[at])
    return found >= 2 and all(each or not row[at].strip() for each, row in zip(readings[at], shown.rows, strict=True))


def _best_columns(
    shown: Shown, readings: Sequence[Sequence[Reading | None]], start: int, *, labelled: bool
) -> list[int]:
    """Return the columns with the most frequent unit, without those that contain the ends of an interval.

    Numbers without a unit are drawn only if there is one column of them, because their meanings can differ.
    """
    kinds: dict[str, list[int]] = {}
    for at in range(start, len(shown.heads)):
        found = {each.kind for each in readings[at] if each}
        if _is_numeric(shown, readings, at) and len(found) == 1 and not _is_end(shown, at):
            kinds.setdefault(found.pop(), []).append(at)
    unitless = kinds.pop(NUMBER, [])
    if kinds:
        return max(kinds.values(), key=len)
    return unitless if labelled and len(unitless) == 1 else []


def _is_end(shown: Shown, at: int) -> bool:
    return any(shown.heads[at] in pair for pair in INTERVAL_HEADS)


def _bar(shown: Shown, readings: Sequence[Sequence[Reading | None]], row: int, at: int) -> Bar | None:
    reading = readings[at][row]
    if reading is None:
        return None
    ends = None
    if tuple(shown.heads[at + 1 : at + 3]) in INTERVAL_HEADS:
        low, high = readings[at + 1][row], readings[at + 2][row]
        ends = (low.value, high.value) if low and high else None
    return Bar(reading.value, shown.rows[row][at], ends)


def _text_bars(shown: Shown) -> str:
    """Return a chart of bars that were printed as text, or "" if the text is something else."""
    lines = [line for line in shown.text.splitlines() if line.strip()]
    found = [match for match in map(_TEXT_BAR.fullmatch, lines) if match]
    values = [read(match["value"]) for match in found]
    kinds = {each.kind for each in values if each}
    is_bars = any("█" in match["bar"] for match in found) and len(found) == len(lines) and len(kinds) == 1
    if not is_bars or None in values or not 2 <= len(lines) <= MOST_ROWS:
        return ""
    rows = [
        BarRow(match["label"], (Bar(each.value, match["value"].strip()),))
        for match, each in zip(found, values, strict=True)
        if each
    ]
    return _chart(shown.title, [""], rows, may_be_logarithmic=False)


def _histogram(shown: Shown) -> str:
    """Return a printed histogram of one line as a picture, or "" if the text is something else."""
    match = _HISTOGRAM.fullmatch(shown.text.strip())
    if match is None or read(match["low"]) is None or read(match["high"]) is None:
        return ""
    shapes, top = _title(shown.title)
    floor, pitch = _HALF - 26, (_WIDTH - 2 * _LEFT) / len(match["bars"])
    for at, character in enumerate(match["bars"]):
        height = _LEVELS.index(character) / 8 * (floor - top)
        if height:
            shapes.append(svg.rect(_LEFT + at * pitch, floor - height, pitch * 0.9, height, class_="s0"))
    shapes += [
        svg.line((_LEFT, floor), (_WIDTH - _LEFT, floor), class_="axis"),
        svg.readable(_LEFT, _HALF - 8, match["low"]),
        svg.readable(_WIDTH - _LEFT, _HALF - 8, match["high"], text_anchor="end"),
    ]
    described = f"A histogram from {match['low']} to {match['high']}: {match['bars']}"
    return svg.document(_WIDTH, _HALF, shapes, title=plain(shown.title), description=described, style=_STYLE)


def _chart(title: str, names: Sequence[str], rows: Sequence[BarRow], *, may_be_logarithmic: bool = True) -> str:
    """Return a chart of rows with one bar per series. `names` are the names of the series."""
    shapes, top = _title(title)
    if any(names) and len(names) > 1:
        legend, top = _legend(names, top)
        shapes += legend
    ends = [end for row in rows for bar in row.bars if bar for end in (bar.value, *(bar.ends or ()))]
    axis = Axis.over(ends, _LEFT, _WIDTH - _VALUES, may_be_logarithmic=may_be_logarithmic)
    heights = [_LABEL + _BAR * len(row.bars) + _GAP for row in rows]
    starts = list(accumulate(heights, initial=top))
    floor = starts[-1]
    if axis.at_zero is not None:
        shapes.append(svg.line((axis.at_zero, top), (axis.at_zero, floor), class_="axis"))
    for y, row in zip(starts, rows, strict=False):
        shapes += _row(row, y, axis)
    if axis.logarithmic:
        shapes.append(svg.readable(_LEFT, floor + 13, "Logarithmic axis: equal distances are equal factors."))
        floor += _LINE
    facts = "; ".join(_fact(row, names) for row in rows)
    return svg.document(_WIDTH, floor + 4, shapes, title=plain(title), description=f"{facts}.", style=_STYLE)


def _fact(row: BarRow, names: Sequence[str]) -> str:
    values = [f"{name} {bar.text}".strip() for name, bar in zip(names, row.bars, strict=True) if bar]
    return f"{row.label}: {', '.join(values)}"


def _row(row: BarRow, y: int, axis: Axis) -> Iterator[str]:
    yield svg.readable(_LEFT, y + 14, shortened(row.label, _LABEL_CHARACTERS))
    for at, bar in enumerate(row.bars):
        if bar is not None:
            yield from _bar_shapes(bar, y + _LABEL + at * _BAR, axis, f"s{at}")


def _bar_shapes(bar: Bar, top: float, axis: Axis, series: str) -> Iterator[str]:
    x, middle = axis.place(bar.value), top + _BAR / 2
    if axis.logarithmic:
        yield svg.line((_LEFT, middle), (_WIDTH - _VALUES, middle), class_="axis", stroke_width=0.5)
        yield svg.element("circle", cx=x, cy=middle, r=5, class_=series)
    else:
        left, right = sorted((x, axis.at_zero or 0.0))
        yield svg.rect(left, top + 2, max(right - left, 1), _BAR - 4, class_=series)
    if bar.ends:
        low, high = map(axis.place, bar.ends)
        yield svg.line((low, middle), (high, middle), class_="end", stroke_width=2)
    yield svg.readable(_WIDTH - _VALUES + 8, top + 12, bar.text)


def _title(title: str) -> tuple[list[str], int]:
    """Return the lines of a title, and the place below them."""
    lines = textwrap.wrap(plain(title), _TITLE_CHARACTERS)
    return (
        [svg.readable(_LEFT, 18 + _LINE * at, line, font_weight="600") for at, line in enumerate(lines)],
        _LINE * len(lines) + 10,
    )


def _legend(names: Sequence[str], top: int) -> tuple[list[str], int]:
    """Return the names of the series beside their colours, and the place below them."""
    shapes, x, y = list[str](), float(_LEFT), top
    for at, name in enumerate(names):
        width = 30 + len(name) * _CHARACTER
        if x > _LEFT and x + width > _WIDTH:
            x, y = _LEFT, y + _LINE
        shapes += [svg.rect(x, y + 3, 12, 12, class_=f"s{at}"), svg.readable(x + 17, y + 14, name)]
        x += width
    return shapes, y + _LINE + 4

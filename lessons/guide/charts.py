"""Draw the tables, bars and histograms of a recorded run as SVG pictures for pages and slides.

A recorded run keeps only the texts of the screen. A chart shows each value with its recorded text beside its bar.
"""

import re
from collections.abc import Sequence
from typing import Final

from harness.charts import svg
from harness.charts.pictures import BarRow, BarValue, bar_rows_svg, columns, ends
from harness.charts.plots import Axis
from lessons.engine.markup import plain
from lessons.guide.chart_values import NUMBER, ChartValue, read
from lessons.guide.results import Shown

MOST_ROWS: Final = 12
MOST_BARS: Final = 20
"""The largest number of rows of a table, and of bars, that one chart shows."""

INTERVAL_HEADS: Final = (("at least", "at most"), ("from", "to"))
"""The names of two columns that contain the ends of the interval of the column before them."""

_WIDTH, _HEIGHT, _LEFT, _TOP = 560, 190, 8, 29
_TEXT_BAR: Final = re.compile(r"(?P<label>.*?\S) +(?P<bar>[█▏▎▍▌▋▊▉]* ?)(?P<value>[^█▏▎▍▌▋▊▉]+)")
_HISTOGRAM: Final = re.compile(r"(?P<low>\S.*?) (?P<bars>[▁-█][ ▁-█]{14}[▁-█]) (?P<high>\S.*)")
_LEVELS: Final = " ▁▂▃▄▅▆▇█"


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
    chosen = _best_columns(shown, readings, values_from, labelled=first > 0)
    if not chosen:
        return ""
    chosen = chosen[: max(1, MOST_BARS // len(shown.rows))]
    rows = []
    for number, cells in enumerate(shown.rows):
        words = [plain(cell) for cell in cells[:first] if cell]
        if not words:
            words = [f"row {number + 1}" if has_units else f"{shown.heads[0]}: {cells[0]}"]
        bars = tuple(_bar(shown, readings, number, at) for at in chosen)
        rows.append(BarRow(", ".join(words), bars))
    names = [plain(shown.heads[at]).strip() for at in chosen]
    return bar_rows_svg(plain(shown.title or shown.heads[chosen[0]]), names, rows, may_be_log=True)


def _is_numeric(shown: Shown, readings: Sequence[Sequence[ChartValue | None]], at: int) -> bool:
    """Return whether each cell of a column is a number or empty, and at least two cells are numbers."""
    found = sum(each is not None for each in readings[at])
    return found >= 2 and all(each or not row[at].strip() for each, row in zip(readings[at], shown.rows, strict=True))


def _best_columns(
    shown: Shown, readings: Sequence[Sequence[ChartValue | None]], start: int, *, labelled: bool
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


def _bar(shown: Shown, readings: Sequence[Sequence[ChartValue | None]], row: int, at: int) -> BarValue | None:
    reading = readings[at][row]
    if reading is None:
        return None
    interval = None
    if tuple(shown.heads[at + 1 : at + 3]) in INTERVAL_HEADS:
        low, high = readings[at + 1][row], readings[at + 2][row]
        interval = (low.value, high.value) if low and high else None
    return BarValue(reading.value, shown.rows[row][at], interval)


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
        BarRow(match["label"], (BarValue(each.value, match["value"].strip()),))
        for match, each in zip(found, values, strict=True)
        if each
    ]
    return bar_rows_svg(plain(shown.title), [""], rows)


def _histogram(shown: Shown) -> str:
    """Return a printed histogram of one line as a picture, or "" if the text is something else."""
    match = _HISTOGRAM.fullmatch(shown.text.strip())
    if match is None or read(match["low"]) is None or read(match["high"]) is None:
        return ""
    axis, floor = Axis(0, 1, _LEFT, _WIDTH - _LEFT), _HEIGHT - 26
    heights = [_LEVELS.index(character) for character in match["bars"]]
    shapes = [
        svg.text(_LEFT, 18, plain(shown.title), font_weight=600),
        *columns(heights, axis, top=_TOP, floor=floor),
        *ends(axis, floor, match["low"], match["high"]),
    ]
    described = f"A histogram from {match['low']} to {match['high']}: {match['bars']}"
    return svg.document(_WIDTH, _HEIGHT, shapes, title=plain(shown.title), description=described)

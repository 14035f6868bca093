"""Draw the tables of a run as SVG pictures for pages and slides."""

from collections.abc import Iterator
from typing import Final

from harness.charts.pictures import BarRow, BarValue, bar_rows_svg
from harness.rendering.tables import Cell
from lessons.engine.document import DocumentStep, Shown
from lessons.engine.explain import StepFigures
from lessons.engine.figures import Rows
from lessons.engine.markup import plain
from lessons.engine.templates import formatter

MOST_ROWS: Final = 12
MOST_BARS: Final = 20
"""The largest number of rows of a table, and of bars, that one chart shows."""

DRAWN_UNITS: Final = ("seconds", "size", "ratio", "percent", "change")
"""The units whose values are compared. Counts in different columns mean different things."""


def charts_of(step: DocumentStep, measured: StepFigures) -> Iterator[str]:
    """Yield a chart of each table of a step that has comparable numbers."""
    for block in step.blocks:
        if isinstance(block, Shown) and isinstance(found := measured.values.get(block.figure), Rows):
            title = plain(block.caption.render(measured.values)) if block.caption.text else ""
            if chart := drawn(block, found, title):
                yield chart


def drawn(block: Shown, table: Rows, title: str) -> str:
    """Return a chart of the columns with the most frequent unit, or "" if there is nothing to compare.

    The labels of the rows are the texts before the first drawn column.
    """
    rows = [(label, *row) for label, row in zip(block.labels, table.rows, strict=True)] if block.labels else table.rows
    units = [unit.partition("(")[0].strip() for _, unit in block.columns]
    by_unit = {unit: [at for at, each in enumerate(units) if each == unit] for unit in DRAWN_UNITS if unit in units}
    if not by_unit or not 2 <= len(rows) <= MOST_ROWS:
        return ""
    chosen = max(by_unit.values(), key=len)[: max(1, MOST_BARS // len(rows))]
    bars = [tuple(_bar(block, row[at], at) for at in chosen) for row in rows]
    if sum(any(each) for each in bars) < 2:
        return ""
    names = [plain(block.columns[at][0]) for at in chosen]
    labels = [", ".join(plain(str(cell)) for cell in row[: chosen[0]] if cell not in {None, ""}) for row in rows]
    drawn_rows = [BarRow(label or f"{at}", bar) for at, (label, bar) in enumerate(zip(labels, bars, strict=True), 1)]
    return bar_rows_svg(title or names[0], names, drawn_rows, may_be_log=True)


def _bar(block: Shown, cell: Cell, at: int) -> BarValue | None:
    if not isinstance(cell, int | float):
        return None
    return BarValue(float(cell), formatter(block.columns[at][1], block.place)(cell))

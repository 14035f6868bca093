"""A table of results: raw values in, text for a terminal, plain text or plain records out.

A cell holds the value itself; its column knows how to show it. So the table on the screen and the record in
a file come from the same numbers, one rounded and one not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from harness.units import number

Cell = str | float | None
"""Text, a number, or nothing known."""

Row = tuple[Cell, ...]
"""One cell a column."""

Heads = Mapping[str, Callable[[float], str] | None]
"""The names of columns, each with what shows its numbers; None for `number`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and how the numbers below it are shown (`harness.units.seconds`, `ratio`, …)."""

    name: str
    show: Callable[[float], str] = number

    def text(self, cell: Cell) -> str:
        """Return what people read in this cell; an unknown value is left empty."""
        if cell is None:
            return ""
        return cell if isinstance(cell, str) else self.show(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns. Every row has one cell a column; anything else is a `ValueError`."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, title: str, columns: Heads, rows: Iterable[Sequence[Cell]]) -> "Table":
        """Make a table from the names of its columns, each with what shows its numbers."""
        named = tuple(Column(name, show or number) for name, show in columns.items())
        return cls(title, named, tuple(tuple(row) for row in rows))

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.columns)} columns.")

    def __rich__(self) -> RichTable:
        """Return what `rich` prints. Cells are shown as they are: square brackets in them mean nothing."""
        table = RichTable(title=Text(self.title) if self.title else None, title_justify="left")
        for index, column in enumerate(self.columns):
            table.add_column(Text(column.name), justify="right" if self._is_numeric(index) else "left")
        for row in self._texts():
            table.add_row(*(Text(cell) for cell in row))
        return table

    def to_text(self) -> str:
        """Return the table in plain characters, columns aligned, no line ending in a space."""
        lines = [tuple(column.name for column in self.columns), *self._texts()]
        widths = [max(cell_len(line[index]) for line in lines) for index in range(len(self.columns))]
        lines.insert(1, tuple("─" * width for width in widths))
        numeric = [self._is_numeric(index) for index in range(len(self.columns))]
        body = ["  ".join(map(_padded, line, widths, numeric)).rstrip() for line in lines]
        return "\n".join([self.title, *body] if self.title else body)

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return one record a row, with the raw values under the columns' names."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def _texts(self) -> list[tuple[str, ...]]:
        return [tuple(column.text(cell) for column, cell in zip(self.columns, row, strict=True)) for row in self.rows]

    def _is_numeric(self, index: int) -> bool:
        return not any(isinstance(row[index], str) for row in self.rows)


def _padded(text: str, width: int, to_the_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if to_the_right else text + space

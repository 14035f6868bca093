"""Write tables of results with `rich` or as plain text.

A cell holds an unformatted value. Its column converts the value to text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from harness.rendering.units import number

Cell = str | float | None
"""A text, a number, or None for an unknown value."""

Row = tuple[Cell, ...]
"""A row of a table: one cell per column."""

Heads = Mapping[str, Callable[[float], str] | None]
"""The name of each column of a table, with the function that formats its numbers. None stands for the usual format."""


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column, and the function that formats its numbers, such as `harness.rendering.units.seconds`."""

    name: str
    show: Callable[[float], str] = number

    def text(self, cell: Cell) -> str:
        """Return the text of a cell, or "" for an unknown value."""
        if cell is None:
            return ""
        return cell if isinstance(cell, str) else self.show(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title. Raise `ValueError` if a row does not have one cell per column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, title: str, columns: Heads, rows: Iterable[Sequence[Cell]]) -> "Table":
        """Return a table. `columns` maps each column's name to the function that formats its numbers."""
        named = tuple(Column(name, show or number) for name, show in columns.items())
        return cls(title, named, tuple(tuple(row) for row in rows))

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.columns)} columns.")

    def __rich__(self) -> RichTable:
        """Return the table for `rich`. Square brackets in a cell are printed, not interpreted as markup."""
        table = RichTable(title=Text(self.title) if self.title else None, title_justify="left")
        for index, column in enumerate(self.columns):
            table.add_column(Text(column.name), justify="right" if self.is_numeric(index) else "left")
        for row in self.texts():
            table.add_row(*(Text(cell) for cell in row))
        return table

    def to_text(self) -> str:
        """Return the table as plain text with aligned columns. No line ends with a space."""
        lines = [tuple(column.name for column in self.columns), *self.texts()]
        widths = [max(cell_len(line[index]) for line in lines) for index in range(len(self.columns))]
        lines.insert(1, tuple("─" * width for width in widths))
        numeric = [self.is_numeric(index) for index in range(len(self.columns))]
        body = ["  ".join(map(_padded, line, widths, numeric)).rstrip() for line in lines]
        return "\n".join([self.title, *body] if self.title else body)

    def texts(self) -> list[tuple[str, ...]]:
        """Return the rows with each cell converted to text."""
        return [tuple(column.text(cell) for column, cell in zip(self.columns, row, strict=True)) for row in self.rows]

    def is_numeric(self, index: int) -> bool:
        """Return whether the column at this position contains no text. Its cells are aligned to the right."""
        return not any(isinstance(row[index], str) for row in self.rows)


def _padded(text: str, width: int, to_the_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if to_the_right else text + space

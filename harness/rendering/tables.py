"""Write tables of results with `rich` or as plain text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from harness.rendering.units import number

Cell = str | float | None
Row = tuple[Cell, ...]
"""A row of a table: for each column a text, a number, or None for an unknown value."""

Heads = Mapping[str, Callable[[float], str] | None]
"""The name of each column of a table, with the function that formats its numbers. None stands for the usual format."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title. All cells are texts. `numeric` lists the positions of the columns that contain no text.

    Columns of numbers are aligned to the right.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int]

    @classmethod
    def of(cls, title: str, columns: Heads, rows: Iterable[Sequence[Cell]]) -> "Table":
        """Return a table. `columns` maps each column's name to the function that formats its numbers.

        Raise `ValueError` if a row does not have one cell per column.
        """
        cells, shows = list(rows), [show or number for show in columns.values()]
        texts = [[_text(cell, show) for cell, show in zip(row, shows, strict=True)] for row in cells]
        numeric = [at for at in range(len(shows)) if not any(isinstance(row[at], str) for row in cells)]
        return cls(title, list(columns), texts, numeric)

    def __rich__(self) -> RichTable:
        """Return the table for `rich`. Square brackets in a cell are printed, not interpreted as markup."""
        table = RichTable(title=Text(self.title) if self.title else None, title_justify="left")
        for at, head in enumerate(self.heads):
            table.add_column(Text(head), justify="right" if at in self.numeric else "left")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def to_text(self) -> str:
        """Return the table as plain text with aligned columns. No line ends with a space."""
        lines = [self.heads, *self.rows]
        widths = [max(cell_len(line[at]) for line in lines) for at in range(len(self.heads))]
        lines.insert(1, ["─" * width for width in widths])
        body = ["  ".join(map(self._padded, range(len(widths)), line, widths)).rstrip() for line in lines]
        return "\n".join([self.title, *body] if self.title else body)

    def to_html(self) -> str:
        """Return the table as HTML. Its title is the caption. Line breaks in a cell are kept."""

        def line(tag: str, cells: Sequence[str]) -> str:
            sides = ("right" if at in self.numeric else "left" for at in range(len(cells)))
            parts = (f'<{tag} style="text-align:{side};white-space:pre-wrap">' for side in sides)
            return (
                f"<tr>{''.join(f'{part}{escape(text)}</{tag}>' for part, text in zip(parts, cells, strict=True))}</tr>"
            )

        body = "\n".join(line("td", row) for row in self.rows)
        caption = f"<caption>{escape(self.title)}</caption>\n" if self.title else ""
        return f"<table>\n{caption}{line('th', self.heads)}\n{body}\n</table>"

    def _padded(self, at: int, text: str, width: int) -> str:
        space = " " * (width - cell_len(text))
        return space + text if at in self.numeric else text + space


def _text(cell: Cell, show: Callable[[float], str]) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else show(cell)

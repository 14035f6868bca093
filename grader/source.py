"""The code of a submission: the text of a Python file, or the code cells of a notebook."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell of a notebook: its number among all cells, and the Python code into which IPython transforms it.

    `title` is its first line of code as the student wrote it. If `may_raise`, the notebook says that it raises an
    exception.
    """

    number: int
    text: str
    title: str = ""
    may_raise: bool = False

    @property
    def place(self) -> str:
        """The name of the cell in messages: its first line of code, because Jupyter shows no number of a saved cell."""
        return f'cell "{self.title}"' if self.title else f"cell {self.number}"


@dataclass(frozen=True, slots=True)
class Notebook:
    """The code cells of a notebook, in order. `remarks` are sentences on cells that must not be run."""

    cells: tuple[CodeCell, ...]
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the code of all cells as one Python text. A comment with the number is above each cell."""
        return "\n".join(f"# cell {cell.number}\n{cell.text}\n" for cell in self.cells)

    def placed(self) -> Iterator[tuple[int, CodeCell]]:
        """Yield each cell with the number of lines above it in the text of the whole notebook."""
        above = 1
        for cell in self.cells:
            yield above, cell
            above += cell.text.count("\n") + 3

    def with_cell_lines(self, said: str) -> str:
        """Return the message `said` with each "line 31 of the file" replaced, such as by "line 3 of cell "x = 1""."""

        def in_cell(match: re.Match[str]) -> str:
            lines = [(int(match[1]) - above, cell.place) for above, cell in self.placed()]
            return [match[0], *(f"line {line} of {place}" for line, place in lines if line > 0)][-1]

        return re.sub(r"line (\d{1,9}) of the file", in_cell, said)


Source = str | Notebook
"""The code of a submission. `str` returns it as one Python text."""

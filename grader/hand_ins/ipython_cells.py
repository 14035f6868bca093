"""Transform the cells of a notebook to Python, as IPython does: magics, shell lines and help requests become calls.

IPython takes 0.2 s to import, so this module is imported only when a notebook is read.
"""

import re
import warnings
from typing import Final

from IPython.core.inputtransformer2 import HelpEnd, TransformerManager, cell_magic

MOST_CHARACTERS: Final = 2_000_000
"""A notebook is refused if more characters must be split into tokens. Each magic repeats this for its whole cell."""

MOST_HELP_CHARACTERS: Final = 1_000
_RUNS_ITS_CELL: Final = re.compile(r"%%(time|capture|prun|memit|snakeviz)(\s|$)")


class TooManyMagicsError(Exception):
    """The transformation of a notebook takes too long."""


class CellTransformer(TransformerManager):
    """Transforms the cells of one notebook. The lines of a cell keep their numbers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.line_transforms = [self._without_magic if each is cell_magic else each for each in self.line_transforms]
        self.token_transformers = [_ShortHelp if each is HelpEnd else each for each in self.token_transformers]
        self._characters = 0

    def python(self, cell: str) -> str:
        """Return a cell as Python, or unchanged if IPython cannot transform it: then it is not Python.

        Raise `TooManyMagicsError` if the transformation of the notebook takes too long.
        """
        removed = cell[: len(cell) - len(cell.lstrip())].count("\n")  # IPython removes the first empty lines
        with warnings.catch_warnings(action="ignore"):
            try:
                return "\n" * removed + self.transform_cell(cell).rstrip()
            except TooManyMagicsError:
                raise
            except Exception:  # noqa: BLE001 - for some texts, the tokenizer raises any exception
                return cell.rstrip()

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        """Replace each magic, shell line and help request. Add empty lines below one that was continued."""
        changed = True
        while changed:
            self._count(lines)
            before = lines
            changed, lines = self.do_one_token_transform(lines)  # type: ignore[no-untyped-call]
            if fewer := len(before) - len(lines):
                below = next(at for at, (old, new) in enumerate(zip(before, lines, strict=False), 1) if old != new)
                lines = [*lines[:below], *["\n"] * fewer, *lines[below:]]
        return lines

    def _without_magic(self, lines: list[str]) -> list[str]:
        """Return the code below a magic such as `%%time`, which runs it in the notebook's own namespace."""
        if not lines or not _RUNS_ITS_CELL.match(lines[0]):
            return [*cell_magic(lines)]  # type: ignore[no-untyped-call]
        self._count(lines)
        return ["\n", *self.python("".join(lines[1:])).splitlines(keepends=True)]

    def _count(self, lines: list[str]) -> None:
        self._characters += sum(map(len, lines))
        if self._characters > MOST_CHARACTERS:
            raise TooManyMagicsError


class _ShortHelp(HelpEnd):
    """A help request, such as `sum?`, that is not long. IPython's own pattern takes minutes for some long lines."""

    def transform(self, lines: list[str]) -> list[str]:
        if sum(map(len, lines[self.start_line : self.q_line + 1])) > MOST_HELP_CHARACTERS:
            raise SyntaxError
        return [*super().transform(lines)]  # type: ignore[no-untyped-call]

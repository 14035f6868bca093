"""Words on a terminal: wrapped at its width of this moment, which a reader may change between two prints."""

import textwrap
from collections.abc import Iterator
from typing import Final

from rich.console import Console

MOST_COLUMNS: Final = 100
"""A longer line is hard to read."""

LEAST_COLUMNS: Final = 20
"""Words are not pressed into fewer columns than this."""


def columns(console: Console) -> int | None:
    """Return how many columns words may take; None where no terminal is there, and lines stay as long as they are."""
    return max(LEAST_COLUMNS, min(console.width, MOST_COLUMNS)) if console.is_terminal else None


def say(console: Console, text: str, indent: int = 0) -> None:
    """Print each line of a text behind an indent, wrapped where it is too long; what follows is indented alike."""
    for line in wrapped(text, columns(console), indent):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def wrapped(text: str, width: int | None, indent: int = 0) -> Iterator[str]:
    """Yield the lines of a text, none longer than `width`. A line's own indent is kept for what follows it."""
    for line in text.splitlines() or [""]:
        own = " " * (indent + len(line) - len(line.lstrip()))
        if width is None or len(line) + indent <= width:
            yield f"{' ' * indent}{line}"
        else:
            yield from textwrap.wrap(
                line.strip(), width, initial_indent=own, subsequent_indent=own, break_on_hyphens=False
            )

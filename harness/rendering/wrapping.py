"""Print text with its lines wrapped at the present width of the terminal, and show there how far a program is."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness.rendering.texts import shown

LEAST_COLUMNS, MOST_COLUMNS = 20, 100
"""The smallest and the largest width of text. Longer lines are hard to read."""


def columns(console: Console) -> int | None:
    """Return the width for text in characters, or None if the output is not a terminal. Lines are then not wrapped."""
    return max(LEAST_COLUMNS, min(console.width, MOST_COLUMNS)) if console.is_terminal else None


def say(console: Console, text: str, indent: int = 0) -> None:
    """Print any text, indented by `indent` spaces. Long lines are wrapped and keep their indent."""
    for line in wrapped(shown(text), columns(console), indent):
        console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


def wrapped(text: str, width: int | None, indent: int = 0) -> Iterator[str]:
    """Yield the lines of a text, wrapped at `width`. The parts of a wrapped line keep its indent."""
    for line in text.splitlines() or [""]:
        own = " " * (indent + len(line) - len(line.lstrip()))
        if width is None or len(line) + indent <= width:
            yield f"{' ' * indent}{line}"
        else:
            yield from textwrap.wrap(
                line.strip(), width, initial_indent=own, subsequent_indent=own, break_on_hyphens=False
            )


@contextmanager
def progress_bars(*more: ProgressColumn) -> Iterator[Progress]:
    """Show progress bars with `more` columns during a `with` block, if standard error is a terminal. Yield the bars."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), *more, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield bars


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a bar with the elapsed time and the text `what` during a `with` block, if standard error is a terminal."""
    with progress_bars() as bars:
        bars.add_task(shown(what), total=None)
        yield

"""Print text with its lines wrapped at the present width of the terminal, and show there how far a program is."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from harness.rendering.texts import shown

LEAST_COLUMNS, MOST_COLUMNS = 20, 100
"""The smallest and the largest width of text. Longer lines are hard to read."""

_WRAPPING = Console(no_color=True)  # `Text.wrap` needs a console, but prints nothing


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
        own, words = " " * (indent + len(line) - len(line.lstrip())), line.strip()
        if width is None or len(own) + cell_len(words.expandtabs()) <= width:
            yield f"{' ' * indent}{line}"
        else:
            own = own[: width // 2]
            yield from (f"{own}{part}".rstrip() for part in Text(words).wrap(_WRAPPING, width - len(own)))


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

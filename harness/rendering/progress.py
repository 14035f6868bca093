"""Show progress bars on a terminal during long waits."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def progress_bars(*more: ProgressColumn) -> Iterator[Progress]:
    """Show progress bars with `more` columns during a `with` block, if standard error is a terminal. Yield the bars."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *more, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield bars


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a bar with the elapsed time and the text `what` during a `with` block, if standard error is a terminal."""
    with progress_bars() as bars:
        bars.add_task(what, total=None)
        yield

"""`python -m lessons` lists the lessons: how long each takes, and how far the reader has come."""

import datetime as dt
import sys

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from harness.command import guarded
from lessons.engine.catalogue import Entry, entries
from lessons.engine.progress import Progress, Standings
from lessons.engine.screen import WIDTH

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(help="List the lessons, their minutes, and your progress.")
def listing() -> None:
    """Print one line a lesson, and how to begin."""
    progress = Progress()
    done = progress.load()
    console = Console(highlight=False)
    console.width = min(console.width, WIDTH)
    lessons = entries()
    grid = Grid.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for entry in lessons:
        grid.add_row(*_row(entry, done.get(entry.name)))
    console.print(grid)
    console.print(Text("\nheld: what the lesson claims, and your machine confirmed", "dim"))
    if progress.remark:
        console.print(progress.remark)
    following = next((entry for entry in lessons if not _complete(done.get(entry.name))), lessons[0])
    console.print(Text.assemble("\nNext:  ", (f"python -m lessons.{following.name}", "cyan")))


def _complete(standings: Standings | None) -> bool:
    return standings is not None and standings.complete


def _row(entry: Entry, standings: Standings | None) -> tuple[Text, Text, Text, Text]:
    return (
        Text(entry.name, "cyan", no_wrap=True),
        Text(entry.title),
        Text(f"{entry.minutes} min", no_wrap=True),
        Text(progress_words(standings), "green" if _complete(standings) else "dim"),
    )


def progress_words(standings: Standings | None) -> str:
    """Return one lesson's progress in a few words."""
    if standings is None:
        return "not yet taken"
    day = dt.datetime.fromisoformat(standings.last_run_utc).astimezone().strftime("%d %b")
    if not standings.complete:
        return f"left {day} after step {standings.steps_done}"
    return f"done {day}, {standings.held}/{len(standings.claims)} held"


if __name__ == "__main__":
    sys.exit(guarded(app, "python -m lessons", sys.argv[1:]))

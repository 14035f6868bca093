"""`python -m lessons` lists the lessons: how long each takes, and how far the reader has come.

`python -m lessons 4` takes lesson 04. `python -m lessons check-claims` runs all lessons and says which of their claims
hold on this machine, and `notebooks` writes each as a notebook.
"""

import datetime as dt
import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from harness import names
from harness.command import Verbs, Version, complain, guarded
from harness.errors import UsageError
from harness.overwriting import EditedFileError
from lessons.engine import tally
from lessons.engine.catalogue import Entry, entries
from lessons.engine.check_claims import chosen, run_all
from lessons.engine.outputs import writable, write_json
from lessons.engine.progress import Progress, Standings
from lessons.engine.screen import WIDTH

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that you may have edited.")]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, cls=Verbs)


@app.callback(
    invoke_without_command=True,
    help="List the lessons, their minutes, and your progress. To take lesson 04: python -m lessons 4",
)
def listing(context: typer.Context, version: Version = False) -> None:
    """Print one line a lesson, and how to begin, unless a command was given."""
    del version  # it has ended the command by itself
    if context.invoked_subcommand is not None:
        return
    progress = Progress()
    done = progress.load()
    console = Console(highlight=False)
    lessons = entries()
    grid = Grid.grid(padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(min_width=max(len(entry.name) for entry in lessons))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for entry in lessons:
        grid.add_row(*_row(entry, done.get(entry.name)))
    console.print(grid, width=min(console.width, WIDTH))
    console.print(Text("\nheld: what the lesson claims, and your machine confirmed", "dim"))
    if progress.remark:
        console.print(progress.remark)
    following = next((entry for entry in lessons if not _complete(done.get(entry.name))), lessons[0])
    console.print(Text.assemble("\nNext:  ", (f"python -m lessons.{following.name}", "cyan")))


@app.command(name="check-claims")
def check_claims(
    lessons: Annotated[list[str] | None, typer.Argument(metavar="[LESSON]...", help="Default: all.")] = None,
    times: Annotated[int, typer.Option(min=1, help="Run each lesson so many times.")] = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write counts, claims and every run there.")
    ] = None,
    force: Force = False,
) -> int:
    """Run every lesson with --fast and say which claims hold here. Exit 0 when none is refuted, else 1."""
    names = chosen(lessons or [], [entry.name for entry in entries()])
    working = Console(stderr=True)
    with writable(json_file, force=force):
        with working.status("Running …") as status:
            runs = run_all(names, times, tell=lambda what: status.update(f"Running {what} …"))
        if json_file is not None:
            write_json(tally.to_json(runs, fast=True), json_file)
    print(tally.table(runs).to_text())
    for run in runs:
        if run.fault:
            print(f"{run.lesson} {run.fault}", file=sys.stderr)
    print(f"\n{tally.summary(runs)}")
    return 0 if tally.all_well(runs) else 1


@app.command(name="notebooks")
def write_notebooks(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is there.")],
    force: Force = False,
) -> int:
    """Write every lesson as a notebook, lesson_NN_name.ipynb. One that you have edited is left as it is."""
    from lessons.engine import notebook  # noqa: PLC0415 - it brings torch, and the list of lessons needs none

    refused = []
    for entry in entries():
        out = folder / f"lesson_{entry.name}.ipynb"
        try:
            notebook.write(import_module(f"lessons.{entry.name}").lesson, out, fast=False, force=force)
            print(f"Wrote {out}.")
        except EditedFileError:
            refused.append(str(out))
    if refused:
        raise UsageError(
            f"You have edited {', '.join(refused)}, so nothing was written there. "
            "Name another folder, or overwrite your work with --force."
        )
    return 0


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
    skipped = len(standings.claims) - standings.asked
    return f"done {day}, {standings.held}/{standings.asked} held" + (f", {skipped} skipped" if skipped else "")


def main(arguments: Sequence[str]) -> int:
    """Run the lesson that is named by its number or name, as `python -m lessons.NN_name` does; else a command."""
    commands = [command.name or "" for command in app.registered_commands]
    if not arguments or arguments[0].startswith("-") or arguments[0] in commands:
        return guarded(app, "python -m lessons", arguments)
    lessons = {entry.name: names.lesson_aliases(entry.name) for entry in entries()}
    try:
        everything = lessons | {command: (command,) for command in commands}
        found = names.matches(arguments[0], lessons)
        lesson = names.one_of(arguments[0], everything, found, "lesson or command")
    except UsageError as error:
        return complain(str(error), error.exit_code)
    sys.argv[1:] = arguments[1:]
    runpy.run_module(f"lessons.{lesson}", run_name="__main__", alter_sys=True)  # ends the process with its own code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

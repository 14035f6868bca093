"""`python -m lessons` lists the lessons with the student's progress; `python -m lessons 4` runs lesson 04.

`python -m lessons check-claims` runs all lessons and reports which of their claims hold on this machine.
`python -m lessons notebooks` writes each lesson as a notebook. `python -m lessons glossary TERM` explains a term.
`python -m lessons guide OUT` writes the teacher's pack.
"""

import runpy
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from harness import glossary
from harness.command_line import Verbs, Version, complain, guarded, lesson_aliases, matches, one_of, similar, with_first
from harness.errors import UsageError
from harness.storage.user_files import EditedFileError
from lessons.engine import check_claims as checking
from lessons.engine import glossary as glossary_screen
from lessons.engine import listing, route
from lessons.engine.catalogue import lesson_names
from lessons.engine.check_claims import chosen, run_all
from lessons.engine.listing import load_points
from lessons.engine.outputs import writable, write_json
from lessons.engine.progress import ProgressFile
from lessons.engine.prompts import WIDTH

GUIDE: Final = Path(__file__).parent / "guide"
"""The code of the teacher's pack. The student kit does not contain it."""

EXERCISE_COMMANDS: Final = frozenset({"check", "practise", "submit", "notebook", "doctor"})
"""The commands of `python -m grader`, which students may type here by mistake."""

OPTIONS: Final = ("--help", "--path", "--version")
"""The options of the list of lessons."""

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that you may have edited.")]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, cls=Verbs)


@app.callback(
    invoke_without_command=True,
    help="List the lessons, the minutes they take, and your progress. To run lesson 04: fairclock lessons 4",
)
def list_lessons(
    context: typer.Context,
    path: Annotated[
        str | None,
        typer.Option(metavar="short|full", help="Choose the short or the full path through the lessons."),
    ] = None,
    version: Version = False,
) -> None:
    """Print the lessons of the chosen path and the command for the next lesson. Print nothing before other commands."""
    del version  # the callback of `--version` has already run
    if path is not None:
        route.choose(path)
    if context.invoked_subcommand is not None:
        return
    progress, console, chosen_path = ProgressFile(), Console(highlight=False), route.chosen()
    lessons = route.entries_of(chosen_path)
    done = progress.load()
    console.print(listing.table(lessons, done, load_points()), width=min(console.width, WIDTH))
    console.print(Text(f"\n{listing.LEGEND}", "dim"), width=min(console.width, WIDTH))
    if progress.warning:
        console.print(progress.warning)
    if start := listing.beginning(lessons, done):
        console.print(Text(f"\n{start}"), width=min(console.width, WIDTH))
    other, about_other = route.alternative(chosen_path)
    left = listing.unfinished(lessons, done)
    more = chosen_path == route.SHORT and not left
    following = other if more else f"fairclock lessons {left[0] if left else lessons[0].name}"
    console.print(Text.assemble("\nNext:  ", (following, "cyan")))
    console.print(Text.assemble(f"Path:  {chosen_path}. For {about_other}: ", (other, "cyan")))
    console.print(Text.assemble("Words: ", (f"{glossary_screen.COMMAND} [TERM]", "cyan")))


@app.command(name="check-claims")
def check_claims(
    lessons: Annotated[list[str] | None, typer.Argument(metavar="[LESSON]...", help="Default: all.")] = None,
    times: Annotated[int, typer.Option(min=1, help="The number of runs of each lesson.")] = 1,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the results of the claims and of each run to FILE."),
    ] = None,
    force: Force = False,
) -> int:
    """Run each lesson with --fast and print the result of each claim.

    The exit code is 1 if a claim is refuted or a lesson fails, and 0 otherwise.
    """
    names = chosen(lessons or [], lesson_names())
    working = Console(stderr=True)
    with writable(json_file, force=force):
        with working.status("Running …") as status:
            runs = run_all(names, times, report=lambda what: status.update(f"Running {what} …"))
        if json_file is not None:
            write_json(checking.to_json(runs, fast=True), json_file)
    print(checking.table(runs).to_text())
    for run in runs:
        if run.fault:
            print(f"{run.lesson} {run.fault}", file=sys.stderr)
    print(f"\n{checking.summary(runs)}")
    return 0 if checking.all_well(runs) else 1


@app.command(name="notebooks")
def write_notebooks(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An existing folder.")],
    force: Force = False,
) -> int:
    """Write each lesson to DIR as a notebook, lesson_NN_name.ipynb. A notebook that you have edited is not changed."""
    from lessons.engine import notebook  # noqa: PLC0415 - it imports torch, which the list of lessons does not need

    refused = []
    for name in lesson_names():
        out = folder / f"lesson_{name}.ipynb"
        try:
            notebook.write(import_module(f"lessons.{name}").lesson, out, fast=False, force=force)
            print(f"Wrote {out}.")
        except EditedFileError:
            refused.append(str(out))
    if refused:
        raise UsageError(
            f"Not written, because you have edited these files: {', '.join(refused)}. "
            "Name another folder, or overwrite your work with --force."
        )
    return 0


@app.command(name="guide", hidden=not GUIDE.is_dir())
def write_guide(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write. It can be new.")],
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Show the results in DIR, such as OUT/results of an earlier --run."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run all lessons, about ten minutes, and show their results.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Draw other questions for the midterm.")] = 1,
    force: Force = False,
) -> int:
    """Write the teacher's pack to OUT: syllabi, pages, slides, question bank, midterm and project.

    Open OUT/index.html in a browser. The pack contains answers, so do not give it to students.
    """
    if not GUIDE.is_dir():
        raise UsageError("The student kit does not contain the teacher's pack. Run this command in the full kit.")
    from lessons.guide import pages  # noqa: PLC0415 - it imports all lessons, and the student kit does not contain it

    with Console(stderr=True).status("Writing …") as status:
        files, failed = pages.write(
            out,
            results_folder=results,
            run=run,
            seed=seed,
            force=force,
            report=lambda what: status.update(f"Writing {what} …"),
        )
    for each in failed:
        lost = f"Lesson {each.lesson} {each.fault}. So the pack has no results of it"
        print(f"{lost}. Run: python -m lessons.{each.lesson}", file=sys.stderr)
    print(f"Wrote {files} files. Open {out / 'index.html'} in a browser.")
    return 1 if failed else 0


@app.command(name="glossary")
def show_glossary(
    term: Annotated[list[str] | None, typer.Argument(metavar="TERM", help="Default: all terms.")] = None,
) -> None:
    """Explain a term of the lessons, such as "oracle" or "no-op call". Capitals, plurals and hyphens do not matter."""
    terms, console = glossary.parse(glossary_screen.FILE.read_text(encoding="utf-8")), Console(highlight=False)
    if term:
        glossary_screen.show(terms.find(" ".join(term)), console)
    else:
        glossary_screen.show_all(terms, console)


def main(arguments: Sequence[str]) -> int:
    """Run the command or the lesson that the first argument names, and return the exit code.

    A lesson runs as with `python -m lessons.NN_name`.
    """
    commands = [command.name or "" for command in app.registered_commands]
    lessons = {name: lesson_aliases(name) for name in lesson_names()}
    named = [word for word in arguments if len(matches(word, lessons)) == 1]
    first = arguments[0] if arguments else ""
    at = 2 - ("=" in first)
    if first.startswith("--path") and arguments[at:]:
        both = " && ".join(f"python -m lessons {shlex.join(each)}" for each in (arguments[:at], arguments[at:]))
        return complain(f"To choose a path and to take a lesson are two commands: {both}", 2)
    if named and first.startswith("-") and first != "--path":
        return complain(f"Write options after the lesson: python -m lessons {with_first(named[-1], arguments)}", 2)
    if first.startswith("--") and not similar(first.partition("=")[0], OPTIONS):
        said = f"The list of lessons has no option {first}. It has: {', '.join(OPTIONS)}."
        return complain(f"{said} For the options of a lesson: python -m lessons 4 --help", 2)
    if not first or first.startswith("-") or first in commands:
        return guarded(app, "python -m lessons", arguments)
    if arguments[0] in EXERCISE_COMMANDS:
        return complain(f"Exercises are another program: python -m grader {shlex.join(arguments)}", 2)
    try:
        everything = lessons | {command: (command,) for command in commands}
        found = matches(arguments[0], lessons)
        lesson = one_of(arguments[0], everything, found, "lesson or command")
    except UsageError as error:
        return complain(str(error), error.exit_code)
    sys.argv[1:] = arguments[1:]
    runpy.run_module(f"lessons.{lesson}", run_name="__main__", alter_sys=True)  # ends the process with the exit code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

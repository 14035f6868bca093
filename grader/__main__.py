"""The commands of `python -m grader`.

A command prints its result to standard output and everything else to standard error. Exit codes:

    0  full points, or a complete run
    1  fewer points
    2  usage or environment error
    3  a submission has no grade that counts, or a report could not be written. A grade does not count after an
       internal error, or if the course's rules need another grading
"""

import sys
from collections.abc import Callable
from typing import Annotated, Final

import typer

from grader import paths
from grader.authoring import stubs
from grader.commands import author, instructor, student
from grader.errors import UsageError
from harness.command_line.command import Verbs, Version, guarded

IN_A_STUDENT_KIT: Final = not paths.SOLUTIONS.is_dir()
"""True if the solutions are missing, as in a student's copy. Then the help lists only commands for students."""

FOR_EVERYONE: Final[dict[str, Callable[..., int]]] = {
    "check": student.check,
    "submit": student.submit,
    "notebook": student.notebook,
    "doctor": student.examine_machine,
}
FOR_STAFF: Final[dict[str, Callable[..., int]]] = {
    "run": instructor.run_class,
    "report": instructor.report,
    "export": instructor.export_points,
    "release": instructor.release_kit,
    "stubs": stubs.command,
    "lint": author.lint_exercises,
    "calibrate": author.calibrate_machine,
}

_Completion = Annotated[bool, typer.Option("--install-completion", "--show-completion", hidden=True)]

app = typer.Typer(
    help="Check, hand in and grade the exercises of fairclock.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Verbs,
)
for verb, function in FOR_EVERYONE.items():
    app.command(name=verb)(function)
for verb, function in FOR_STAFF.items():
    app.command(name=verb, hidden=IN_A_STUDENT_KIT)(function)


@app.callback(invoke_without_command=True)
def options(context: typer.Context, version: Version = False, completion: _Completion = False) -> None:
    """Print the help if no command is given."""
    del version  # the callback of --version has printed the version
    if completion:
        raise UsageError("Tab completion belongs to the command fairclock. Run: fairclock --install-completion")
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


if __name__ == "__main__":
    sys.exit(guarded(app, "python -m grader", sys.argv[1:]))

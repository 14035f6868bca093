"""The commands of `python -m grader`.

A command prints its result to standard output and everything else to standard error. Exit codes:

    0  full points, or a complete run
    1  fewer points
    2  usage or environment error
    3  a submission has no grade that counts, or a report could not be written. A grade does not count after an
       internal error, or if the course's rules need another grading
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final

import typer

from grader import paths
from grader.commands import student
from grader.errors import UsageError
from harness.command_line.command import Verbs, Version, guarded

IN_A_STUDENT_KIT: Final = not paths.SOLUTIONS.is_dir()
"""True if the solutions are missing, as in a student's copy. Then the help lists only commands for students."""

FOR_EVERYONE: Final[Mapping[str, Callable[..., int]]] = {
    "check": student.check,
    "submit": student.submit,
    "notebook": student.notebook,
    "doctor": student.examine_machine,
}

_Completion = Annotated[bool, typer.Option("--install-completion", "--show-completion", hidden=True)]


def app(verb: str = "") -> typer.Typer:
    """Return the commands as a Typer app. If `verb` is a student's command, leave out the commands for staff."""
    made = typer.Typer(
        help="Check, hand in and grade the exercises of fairclock.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=Verbs,
        callback=options,
        invoke_without_command=True,
    )
    add_commands(made, verb)
    return made


def add_commands(to: typer.Typer, verb: str) -> None:
    """Add the commands to an app. If `verb` is a student's command, leave out the commands for staff.

    Their import takes 0.1 s, for which each `check` would wait.
    """
    for name, function in FOR_EVERYONE.items():
        to.command(name=name)(function)
    if verb not in {command.name for command in to.registered_commands}:
        from grader.commands import staff  # noqa: PLC0415 - imported only if needed

        for name, function in staff.COMMANDS.items():
            to.command(name=name, hidden=IN_A_STUDENT_KIT)(function)


def options(context: typer.Context, version: Version = False, completion: _Completion = False) -> None:
    """Print the help if no command is given."""
    del version  # the callback of --version has printed the version
    if completion:
        raise UsageError("Tab completion belongs to the command fairclock. Run: fairclock --install-completion")
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments, print every error as one sentence, and return the exit code."""
    return guarded(app(*arguments[:1]), "python -m grader", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

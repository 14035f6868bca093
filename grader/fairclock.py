"""The command `fairclock`: all commands of `python -m grader`, and `fairclock lessons`, which is `python -m lessons`.

In the folder of a downloaded copy, the command runs that copy's code, as `python -m grader` does. A student edits the
exercises there. Without this rule, `fairclock check` would grade the exercises of the installed package instead.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from grader import __main__ as grader
from grader import paths
from grader.commands import complete
from harness.command_line.command import Verbs, Version, guarded


def app(verb: str = "") -> typer.Typer:
    """Return the commands as a Typer app. If `verb` is a student's command, leave out the commands for staff."""
    made = typer.Typer(
        help="Take lessons, and check, hand in and grade their exercises.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=Verbs,
        callback=options,
        invoke_without_command=True,
    )
    for name in ("lessons", "lesson"):
        made.command(
            name=name,
            hidden=name == "lesson",
            context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
            add_help_option=False,  # the lessons have their own --help
        )(take_lesson)
    grader.add_commands(made, verb)
    return made


def options(context: typer.Context, version: Version = False) -> None:
    """Print the help if no command is given."""
    del version  # the callback of --version has printed the version
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def take_lesson(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON] [OPTIONS]", autocompletion=complete.lessons)
    ] = None,
) -> int:
    """List the lessons, or take one lesson: fairclock lessons 4."""
    sys.argv[1:] = arguments or []
    runpy.run_module("lessons", run_name="__main__", alter_sys=True)  # the grader does not import lessons
    return 0


def main() -> int:
    """Run the command given on the command line, and return its exit code."""
    here = Path.cwd()
    if here != paths.KIT and (here / "grader" / "fairclock.py").is_file():
        sys.stdout.flush()
        command = [sys.executable, "-m", "grader.fairclock", *sys.argv[1:]]  # -m takes modules from this folder first
        os.execv(sys.executable, command)  # noqa: S606 - the same command, without a shell
    return guarded(app(*sys.argv[1:2]), "fairclock", sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""The commands of `fairclock` that pass their arguments on, because other programs know them."""

import runpy
import sys
from typing import Annotated, Any, Final

import typer

from grader.commands.options import lesson_names

SETTINGS: Final[dict[str, Any]] = {
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
    "add_help_option": False,  # the other programs have their own --help
}
"""How these commands are added to an app."""


def take_lesson(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[LESSON] [OPTIONS]", autocompletion=lesson_names)
    ] = None,
) -> int:
    """List the lessons, or take one lesson: fairclock lessons 4."""
    sys.argv[1:] = arguments or []
    runpy.run_module("lessons", run_name="__main__", alter_sys=True)  # the grader does not import lessons
    return 0


def bisect(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[OPTIONS] GOOD BAD -- STATEMENT")] = None,
) -> int:
    """Find the first commit of a git repository that made a statement slower."""
    from harness.gate import bisect_command  # noqa: PLC0415 - imported only if needed

    bisect_command.run(arguments or [], "fairclock bisect")
    return 0

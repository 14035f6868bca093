"""The commands of `python -m grader` and of the program `fairclock`, as Typer apps.

A command prints its result to standard output and everything else to standard error. Exit codes:

    0  full points, or a complete run
    1  fewer points
    2  usage or environment error
    3  a submission has no grade that counts, or a report could not be written. A grade does not count after an
       internal error, or if the course's rules need another grading
"""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import typer

from grader import paths
from grader.commands import passed_on, student
from grader.commands.options import lesson_names
from grader.errors import UsageError
from harness.command_line import Verbs, Version, guarded, lesson_aliases, matches

IN_A_STUDENT_KIT: Final = not paths.SOLUTIONS.is_dir()
"""True if the solutions are missing, as in a student's copy. Then the help lists only commands for students."""

FOR_EVERYONE: Final[Mapping[str, Callable[..., int]]] = {
    "check": student.check,
    "practise": student.practise,
    "submit": student.submit,
    "login": student.login,
    "logout": student.logout,
    "notebook": student.notebook,
    "doctor": student.examine_machine,
}

EXAMPLES: Final = """\b
Examples:
  fairclock lessons 4   take lesson 04
  fairclock check 4     check its exercise
  fairclock practise 4  check it at each save, then go on
"""


def run_grader(arguments: Sequence[str]) -> int:
    """Run `python -m grader` with these arguments, print every error as one sentence, and return the exit code."""
    return guarded(grader_app(*arguments[:1]), "python -m grader", arguments, grader_app)


def run_fairclock(arguments: Sequence[str]) -> int:
    """Run `fairclock` with these arguments, print every error as one sentence, and return the exit code."""
    return guarded(fairclock_app(*arguments[:1]), "fairclock", arguments, fairclock_app)


def grader_app(verb: str = "") -> typer.Typer:
    """Return the commands of `python -m grader`. If `verb` is a student's command, leave out those for staff."""
    made = _app("Check, hand in and grade the exercises of fairclock.", add_completion=False)
    _add_commands(made, verb)
    return made


def fairclock_app(verb: str = "") -> typer.Typer:
    """Return the commands of `fairclock`. If `verb` is a student's command, leave out those for staff."""
    made = _app("Take lessons, and check, hand in and grade their exercises.")
    for name, function in {"lessons": passed_on.take_lesson, "bisect": passed_on.bisect}.items():
        made.command(name=name, **passed_on.SETTINGS)(function)
    _add_commands(made, verb)
    return made


class ExerciseVerbs(Verbs):
    """The commands. If a lesson is typed without a command, the error names the commands that take a lesson."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, or raise `UsageError`."""
        lessons = {lesson: lesson_aliases(lesson) for lesson in lesson_names("")}
        to_take = "fairclock lessons" if "lessons" in self.commands else "python -m lessons"
        if args[0] not in self.commands and matches(args[0], lessons):
            both = f"{ctx.command_path} check {args[0]} or {to_take} {args[0]}"
            raise UsageError(f"Write a command before the lesson: {both}")
        if args[0] == "lessons" and "lessons" not in self.commands:
            raise UsageError(f"Lessons are another program: {to_take} {shlex.join(args[1:])}")
        return super().resolve_command(ctx, args)


def _app(purpose: str, *, add_completion: bool = True) -> typer.Typer:
    return typer.Typer(
        help=purpose,
        epilog=EXAMPLES,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=ExerciseVerbs,
        callback=options,
        invoke_without_command=True,
    )


def _add_commands(to: typer.Typer, verb: str) -> None:
    """Add the commands to an app. A student's `verb` does not wait 0.1 s for the import of those for staff."""
    for name, function in FOR_EVERYONE.items():
        to.command(name=name)(function)
    if verb not in {command.name for command in to.registered_commands}:
        for name, function in staff_commands().items():
            to.command(name=name, hidden=IN_A_STUDENT_KIT)(function)
        if not IN_A_STUDENT_KIT:  # a kit does not contain what these commands need
            from grader.commands import serve, similar  # noqa: PLC0415 - imported only if needed

            to.command()(similar.similar)
            to.add_typer(serve.app, name="serve")


def staff_commands() -> Mapping[str, Callable[..., int]]:
    """Return the commands for instructors and authors that a student kit also contains."""
    from grader.authoring import stubs  # noqa: PLC0415 - imported only if needed
    from grader.commands import author, by_hand, instructor  # noqa: PLC0415

    return {
        "run": instructor.run_class,
        "report": instructor.report,
        "export": instructor.export_points,
        "grade": by_hand.grade,
        "comment": by_hand.comment,
        "return": instructor.return_pages,
        "roster": instructor.write_roster,
        "release": instructor.release_kit,
        "stubs": stubs.command,
        "lint": author.lint_exercises,
        "calibrate": author.calibrate_machine,
    }


def options(context: typer.Context, version: Version = False) -> None:
    """Print the help if no command is given."""
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)

"""The options and consoles that several commands share, and the lesson names that the shell completes."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.console import Console

from grader import paths

out_console: Final = Console(soft_wrap=True)
err_console: Final = Console(stderr=True)


def lesson_names(incomplete: str) -> list[str]:
    """Return the lessons whose names begin with the typed text. Only file names are read, so that Tab is fast."""
    names = sorted(path.stem for path in paths.EXERCISES.glob("[0-9][0-9]_*.py"))
    return [name for name in names if name.startswith(incomplete)]


CourseFile = Annotated[
    Path | None,
    typer.Option(
        "--course", metavar="FILE", help="The course file with due dates. Default: the course file of the last run."
    ),
]
StudentsFile = Annotated[
    Path | None,
    typer.Option(
        "--students",
        metavar="CSV",
        help="The list of students. Default: students.csv beside the course file, or the list of the last run.",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that you may have edited.")]
GradedOn = Annotated[
    list[str] | None,
    typer.Option(
        "--lessons",
        help="The lessons that count, or all. Can be repeated. Default: the lessons of the last run, or at the first "
        "run the lessons that were handed in.",
        autocompletion=lesson_names,
    ),
]
Leaderboard = Annotated[
    bool | None,
    typer.Option(
        "--leaderboard/--no-leaderboard",
        help="Also write leaderboard.html for the class to read. Default: as in the last run.",
    ),
]
Lessons = Annotated[
    list[str] | None,
    typer.Option("--lessons", help="Only these lessons. Can be repeated.", autocompletion=lesson_names),
]
Names = Annotated[
    Literal["pseudonyms", "students"] | None,
    typer.Option("--leaderboard-names", help="The names on the leaderboard."),
]

"""The options that several commands of the grader share, and the lesson names that the shell completes."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from grader import paths


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
    str | None,
    typer.Option(
        "--leaderboard-names",
        metavar="HOW",
        help="pseudonyms, students, or a CSV file with two columns: student, name to show.",
    ),
]
ALL_BUT_ONE_CORE: Final = max(1, (os.cpu_count() or 2) - 1)

Jobs = Annotated[int, typer.Option(min=1, help="Number of submissions graded in parallel.")]
NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Grade without protection. Each report then has a warning.")
]
Progress = Annotated[
    bool | None, typer.Option("--progress/--quiet", help="Progress on standard error. Default: only on a terminal.")
]
Regrade = Annotated[
    list[str] | None, typer.Option(metavar="STUDENT", help="Grade this student again. Can be repeated.")
]
Scheduler = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="Grade on the Dask cluster at this address. tls://… uses the TLS settings of Dask."
    ),
]
SeedFile = Annotated[
    Path | None,
    typer.Option(metavar="F", help="A file with the secret seed. Default: the file that the first run writes to OUT."),
]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="LESSON|TASK|FILE",
        help="A lesson, a task or a file, such as 2 or time_per_call. Default: all.",
        autocompletion=lesson_names,
    ),
]
OneTask = Annotated[str | None, typer.Argument(metavar="TASK", help="Check only this task of the lesson.")]
NextHint = Annotated[bool, typer.Option("--hint", help="Show the next hint: check 4 --hint, or check 2 --hint TASK.")]

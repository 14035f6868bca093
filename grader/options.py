"""Options that several of the grader's commands take."""

from pathlib import Path
from typing import Annotated

import typer

CourseFile = Annotated[
    Path | None, typer.Option("--course", metavar="FILE", help="Due dates and lateness. Default: as before.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a fault of ours.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that you may have edited.")]
GradedOn = Annotated[
    list[str] | None,
    typer.Option("--lessons", help="The lessons that count, or all; may be repeated. Default: as before."),
]
Leaderboard = Annotated[
    bool | None,
    typer.Option(
        "--leaderboard/--no-leaderboard", help="Also write leaderboard.html, to show to the class. Default: as before."
    ),
]
Lessons = Annotated[list[str] | None, typer.Option("--lessons", help="Only these lessons; may be repeated.")]
Names = Annotated[
    str | None,
    typer.Option(
        "--leaderboard-names",
        metavar="HOW",
        help="pseudonyms, students, or a CSV file: student, name to show (empty: left out).",
    ),
]

"""The commands for points and comments that a person gives: `grade` and `comment`."""

from pathlib import Path
from typing import Annotated

import typer

from grader.class_run import hand_grading
from grader.commands.options import Debug
from grader.errors import UsageError
from harness.rendering.texts import shown

Out = Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `run` wrote.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="The person who decides. Default: your user name.")]


def grade(
    out: Out,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="A name, a number or an e-mail address.")] = "",
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Such as 04.autorange, or 04 if the lesson has one task.")
    ] = "",
    points: Annotated[float | None, typer.Option(metavar="N", help="The points for this task.")] = None,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="A text that the student reads.")] = "",
    by: By = "",
    over: Annotated[bool, typer.Option("--over", help="Allow more points than the task has.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last points by hand of this task.")] = False,
    history: Annotated[bool, typer.Option("--history", "--list", help="List all points and comments by hand.")] = False,
    debug: Debug = False,
) -> int:
    """Give a student points by hand. They replace the measured points, and no regrading and no date changes them."""
    if history + undo + (points is not None) != 1 or not (history or task):
        raise UsageError("Write grade OUT STUDENT TASK --points N, or --undo instead of --points, or OUT --history.")
    if history:
        lines = hand_grading.history(out, student, task)
    else:
        given = {"comment": comment, "by": by}
        lines = hand_grading.give(out, student, task, points or 0.0, over=over, undo=undo, **given)
    print(shown("\n".join(lines)))
    return 0


def comment(
    out: Out,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="A name, a number or an e-mail address.")],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK] TEXT", help="The comment, after the task that it is about.")
    ] = None,
    by: By = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last comment.")] = False,
    debug: Debug = False,
) -> int:
    """Write a comment on a student's page. It changes no points."""
    given = [*(texts or []), *([""] if undo or not texts else [])]
    task, text = given[:-1], given[-1]
    if len(task) > 1 or not (undo or text.strip()):
        raise UsageError('Write comment OUT STUDENT TASK "TEXT", or without TASK for a comment on everything.')
    about = task[0] if task else ""
    print(shown("\n".join(hand_grading.give(out, student, about, None, comment=text, by=by, undo=undo))))
    return 0

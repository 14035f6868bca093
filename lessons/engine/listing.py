"""The table of all lessons with the student's progress."""

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from lessons.engine.catalogue import Entry
from lessons.engine.exercise_points import ExercisePoints
from lessons.engine.markup import styled
from lessons.engine.progress import LessonProgress
from lessons.engine.score import Score

LEGEND = (
    "Claims: how many were confirmed on your machine. Predicted: how many of your answers were right. "
    "Points: for the exercise, in the last python -m grader check."
)

Lessons = Sequence[Entry]
Done = Mapping[str, LessonProgress]


def table(lessons: Lessons, done: Done, points: Mapping[str, ExercisePoints]) -> Table:
    """Return a table with one row per lesson, and a row of totals."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_footer=True)
    scores = {name: Score.of(each.predictions.values()) for name, each in done.items()}
    grid.add_column("Lesson", footer=Text("Total", "bold"), no_wrap=True)
    grid.add_column("Title", overflow="fold")
    grid.add_column("Min.", footer=str(sum(entry.minutes for entry in lessons)), justify="right", no_wrap=True)
    grid.add_column("Progress", footer=_finished(lessons, done), no_wrap=True)
    grid.add_column("Claims", max_width=7, overflow="fold")
    grid.add_column("Predicted", footer=_right(sum(scores.values(), Score())), no_wrap=True)
    grid.add_column("Points", footer=_total(points), no_wrap=True)
    for entry in lessons:
        progress = done.get(entry.name)
        grid.add_row(
            Text(entry.name, "cyan"),
            styled(entry.title),
            str(entry.minutes),
            Text(progress_words(progress), "green" if progress and progress.complete else "dim"),
            claims_words(progress),
            _right(scores.get(entry.name, Score())),
            str(points.get(entry.name, "")),
        )
    return grid


def following(lessons: Lessons, done: Done) -> str:
    """Return the name of the first lesson that is not complete, or of the first lesson if all are complete."""
    open_ = [entry.name for entry in lessons if not (entry.name in done and done[entry.name].complete)]
    return open_[0] if open_ else lessons[0].name


def progress_words(progress: LessonProgress | None) -> str:
    """Return the student's progress in one lesson: "new", "done", or for example "after step 3"."""
    if progress is None:
        return "new"
    return "done" if progress.complete else f"after step {progress.steps_done}"


def claims_words(progress: LessonProgress | None) -> str:
    """Return the numbers of confirmed, measured and skipped claims of a lesson as text, such as "5/6, 1 skipped"."""
    if progress is None or not progress.claims:
        return ""
    skipped = len(progress.claims) - progress.measured
    return f"{progress.held}/{progress.measured}" + (f", {skipped} skipped" if skipped else "")


def _right(score: Score) -> str:
    return f"{score.right}/{score.decided}" if score.decided else ""


def _finished(lessons: Lessons, done: Done) -> str:
    complete = sum(entry.name in done and done[entry.name].complete for entry in lessons)
    return f"{complete}/{len(lessons)} done"


def _total(points: Mapping[str, ExercisePoints]) -> str:
    return str(sum(points.values(), ExercisePoints(0.0, 0.0))) if points else ""

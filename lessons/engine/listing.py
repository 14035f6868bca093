"""The table of all lessons with the student's progress, and the points of the exercises."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table
from rich.text import Text

from harness.rendering import units
from harness.storage.user_files import state_folder
from lessons.engine.catalogue import LessonEntry
from lessons.engine.markup import styled
from lessons.engine.predict import Score
from lessons.engine.progress import LessonProgress

LEGEND = (
    "After: lessons that make this lesson easier. Minutes: for the lesson + for its exercise. Claims: how many were "
    "confirmed on your machine. Predicted: how many of your answers were right. Points: for the exercise, in the last "
    "fairclock check."
)

POINTS_FILE: Final = "exercise_points.json"
"""The grader keeps the student's points in this file of the user's state folder: {"format": 1, "lessons": {LESSON:
{"points": 8.0, "possible": 10.0}}}."""

FIRST_SUCCESS_MIN: Final = 10
"""The minutes after which a new student has seen the first results."""

Lessons = Sequence[LessonEntry]
Done = Mapping[str, LessonProgress]


@dataclass(frozen=True, slots=True)
class ExercisePoints:
    """The points that the student has in one exercise, and the largest possible number of points."""

    points: float
    possible: float

    def __add__(self, other: "ExercisePoints") -> "ExercisePoints":
        return ExercisePoints(self.points + other.points, self.possible + other.possible)

    def __str__(self) -> str:
        return f"{self.points:g}/{self.possible:g}"


def table(lessons: Lessons, done: Done, points: Mapping[str, ExercisePoints]) -> Table:
    """Return a table with one row per lesson, and a row of totals."""
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_footer=True)
    scores = {entry.name: Score.of(done[entry.name].predictions.values()) for entry in lessons if entry.name in done}
    own = [points[entry.name] for entry in lessons if entry.name in points]
    grid.add_column("Lesson", footer=Text("Total", "bold"), overflow="fold")
    grid.add_column("After", max_width=6, overflow="fold")
    grid.add_column("Minutes", footer=_total_minutes(lessons), justify="right", no_wrap=True)
    finished = f"{len(lessons) - len(unfinished(lessons, done))}/{len(lessons)} done"
    grid.add_column("Progress", footer=finished, no_wrap=True)
    grid.add_column("Claims", max_width=7, overflow="fold")
    grid.add_column("Predicted", footer=_right(sum(scores.values(), Score())), no_wrap=True)
    total = str(sum(own, ExercisePoints(0.0, 0.0))) if own else ""
    grid.add_column("Points", footer=total, no_wrap=True)
    for entry in lessons:
        progress = done.get(entry.name)
        grid.add_row(
            Text(entry.name, "cyan").append("\n").append(styled(entry.title, "default")),
            " ".join(name.partition("_")[0] for name in entry.prerequisites),
            minutes_words(entry),
            Text(progress_words(progress), "green" if progress and progress.complete else "dim"),
            claims_words(progress),
            _right(scores.get(entry.name, Score())),
            str(points.get(entry.name, "")),
        )
    return grid


def unfinished(lessons: Lessons, done: Done) -> list[str]:
    """Return the names of the lessons that the student has not completed, in order."""
    return [entry.name for entry in lessons if entry.name not in done or not done[entry.name].complete]


def beginning(lessons: Lessons, done: Done) -> str:
    """Return the sentence for a new student about the first minutes. It is empty for all other students."""
    steps = lessons[0].steps_within(FIRST_SUCCESS_MIN)
    if done or not steps:
        return ""
    return (
        f"Start: the first {units.some(steps, 'step')} of {lessons[0].name} take{'s' * (steps == 1)} about "
        f"{FIRST_SUCCESS_MIN} minutes. You can stop after any step, and continue later."
    )


def minutes_words(entry: LessonEntry) -> str:
    """Return the minutes for a lesson and for its exercise, such as "35 + 50"."""
    return f"{entry.minutes} + {entry.exercise_minutes}" if entry.exercise_minutes else str(entry.minutes)


def _total_minutes(lessons: Lessons) -> str:
    exercises = sum(entry.exercise_minutes or 0 for entry in lessons)
    total = sum(entry.minutes for entry in lessons)
    return f"{total} + {exercises}" if exercises else str(total)


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


def load_points(folder: Path | None = None) -> dict[str, ExercisePoints]:
    """Return the student's points in each exercise, by the name of its lesson.

    They come from `POINTS_FILE` in `folder`, by default the user's state folder. The result is empty if the file is
    missing or cannot be read.
    """
    try:
        whole = json.loads(((folder or state_folder()) / POINTS_FILE).read_text(encoding="utf-8"))
        if whole["format"] != 1:
            return {}
        lessons = whole["lessons"].items()
        return {str(name): ExercisePoints(float(each["points"]), float(each["possible"])) for name, each in lessons}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}

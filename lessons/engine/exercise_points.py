"""The points of the student's exercises in the last `python -m grader check` of each lesson.

The grader saves the points in a file, and the lessons read this file. The content of the file:

    {"format": 1, "lessons": {"04_autorange": {"points": 8.0, "possible": 10.0}}}
"""

import json
from dataclasses import dataclass
from pathlib import Path

from harness.storage.user_state import state_folder

FILE = "exercise_points.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class ExercisePoints:
    """The points that the student has in one exercise, and the largest possible number of points."""

    points: float
    possible: float

    def __add__(self, other: "ExercisePoints") -> "ExercisePoints":
        return ExercisePoints(self.points + other.points, self.possible + other.possible)

    def __str__(self) -> str:
        return f"{self.points:g}/{self.possible:g}"


def load(folder: Path | None = None) -> dict[str, ExercisePoints]:
    """Return the student's points in each exercise, by the name of its lesson.

    They are read from a file in `folder`, by default the user's state folder. The result is empty if the file is
    missing or cannot be read.
    """
    try:
        whole = json.loads(((folder or state_folder()) / FILE).read_text(encoding="utf-8"))
        if whole["format"] != FORMAT:
            return {}
        lessons = whole["lessons"].items()
        return {str(name): ExercisePoints(float(each["points"]), float(each["possible"])) for name, each in lessons}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}

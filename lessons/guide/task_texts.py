"""The tasks of each exercise, read from the output of `python -m grader.authoring.task_texts`.

Lessons do not import the grader, so they start it as a process.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from lessons.engine.catalogue import FOLDER

COMMAND = ("-m", "grader.authoring.task_texts")


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A known wrong answer: its name, the explanation that students read, and its code without the docstring."""

    name: str
    explanation: str
    code: str


@dataclass(frozen=True, slots=True)
class TaskTexts:
    """One function that a student writes, with the texts that the grader shows about it.

    A right answer gets `points_if_right` at any cost. `cost` is the kind of cost that the grader measures. For each of
    `thresholds`, a submission gets its "points" if the baseline's cost divided by its own cost is at least its "ratio".
    """

    lesson: str
    name: str
    summary: str
    points: float
    points_if_right: float
    cost: str
    thresholds: Sequence[Mapping[str, float]]
    hints: Sequence[str]
    read: str
    idea: str
    references: str
    wrong_answers: tuple[WrongAnswer, ...]


def load() -> dict[str, tuple[TaskTexts, ...]]:
    """Return the tasks of each lesson's exercise, by the lesson's name.

    Raise `UsageError` if the grader cannot list its tasks.
    """
    ran = subprocess.run([sys.executable, *COMMAND], cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageError(f"The tasks of the exercises cannot be listed ({last}). Run: python {' '.join(COMMAND)}")
    found: dict[str, tuple[TaskTexts, ...]] = {}
    for each in json.loads(ran.stdout)["tasks"]:
        each["wrong_answers"] = tuple(WrongAnswer(**wrong) for wrong in each["wrong_answers"])
        found[each["lesson"]] = (*found.get(each["lesson"], ()), TaskTexts(**each))
    return found

"""Points and comments that a person gives by hand.

Points by hand are final: dates, the choice of an attempt, and later gradings do not change them. Nothing is ever
removed from the history. An entry that takes back another one is an entry, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class HandEntry:
    """Points or a comment that the person `by` gave a student at the time `at`, in UTC.

    `task` is the full name of a task, or "" for a comment on everything. `points` is None for a comment alone. With
    `undo`, the entry takes back the last points of this task (`points` is a number), or the last comment on it.
    """

    student: str
    task: str
    points: float | None
    comment: str
    by: str
    at: datetime
    undo: bool = False

    @property
    def lesson(self) -> str:
        """The lesson of the task, or "" for a comment on everything."""
        return self.task.partition(".")[0]


def in_force(history: Sequence[HandEntry]) -> tuple[HandEntry, ...]:
    """Return the entries that hold now, in order of time: the last points of each task, and all comments."""
    stacks: dict[tuple[str, str, bool], list[HandEntry]] = {}
    for entry in history:
        stack = stacks.setdefault((entry.student, entry.task, entry.points is None), [])
        if not entry.undo:
            stack.append(entry)
        elif stack:
            stack.pop()
    kept = (one for (_, _, comment), stack in stacks.items() for one in (stack if comment else stack[-1:]))
    return tuple(sorted(kept, key=lambda one: one.at))


def given(history: Sequence[HandEntry]) -> dict[tuple[str, str], dict[str, HandEntry]]:
    """Return the points by hand that hold now, by student and lesson, and then by task."""
    found: dict[tuple[str, str], dict[str, HandEntry]] = {}
    for one in in_force(history):
        if one.points is not None:
            found.setdefault((one.student, one.lesson), {})[one.task] = one
    return found

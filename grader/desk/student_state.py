"""Store a student's hints read and last points in the user's state folder, and show the hints one at a time.

`python -m lessons` shows the points in its list of lessons. `lessons/engine/listing.py` describes their format.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from grader import catalogue
from grader.course.roll import is_faulted
from grader.files import WriteError, write_atomically
from grader.hand_ins import originals
from grader.records import Report
from grader.task import Task
from harness.storage.user_files import state_folder

HINTS: Final = "hints.json"
POINTS: Final = "exercise_points.json"
FORMAT: Final = 1
_BEST: Final = "best"
_AGAIN: Final = "To read all hints again"


@dataclass(frozen=True, slots=True)
class CheckedWork:
    """A file that the grader checked: its points, its absolute path, and the SHA-256 of its code."""

    points: float
    path: str
    code: str


def next_hint(task: Task) -> Iterator[str]:
    """Yield the next hint of a task. After the last hint, yield it again, with the command that shows all hints."""
    before = _hints_read(task)
    number = min(before + 1, len(task.hints))
    _store(HINTS, {**_load(HINTS), task.full_name: number})
    yield _hint_line(task, number)
    if number == len(task.hints):
        yield f"This {'was' if before >= number else 'is'} the last hint. {_AGAIN}: {_command(task, '--hints')}"


def hints_again(task: Task) -> Iterator[str]:
    """Yield the hints of a task that the student has read. If there are none, yield the command for the first hint."""
    number = _hints_read(task)
    if not number:
        yield f"You have not read a hint for this task yet. First hint: {_command(task)}"
    yield from (_hint_line(task, each + 1) for each in range(number))


def hint_offer(task: Task) -> str:
    """Return a line with the command for the next hint, or for all hints if the student has read all of them."""
    number = _hints_read(task)
    if number == len(task.hints):
        return f"You have read all hints. {_AGAIN}: {_command(task, '--hints')}"
    return f"{'Next' if number else 'First'} hint: {_command(task)}"


def _hints_read(task: Task) -> int:
    number = _load(HINTS).get(task.full_name)
    return min(max(number, 0), len(task.hints)) if isinstance(number, int) else 0


def _hint_line(task: Task, number: int) -> str:
    return f"Hint {number} of {len(task.hints)}: {task.hints[number - 1]}"


def _command(task: Task, option: str = "--hint") -> str:
    alone = len(catalogue.load().tasks(task.lesson)) == 1
    return f"fairclock check {task.lesson} {option}{'' if alone else f' {task.name}'}"


def keep_points(report: Report) -> None:
    """Store the points of a checked lesson, if the state folder can be written and all of its tasks have a grade."""
    if is_faulted(report):
        return
    kept = _checked()
    submission = report.submission
    before = checked_work(submission.lesson)
    best = CheckedWork(report.points, str(Path.cwd() / submission.path), originals.code_digest(str(submission.source)))
    best = before if before and before.points > best.points else best
    points = {"points": report.points, "possible": report.max_points}
    kept[submission.lesson] = {**points, _BEST: asdict(best)}
    with contextlib.suppress(OSError, WriteError):
        _store(POINTS, {"format": FORMAT, "lessons": kept})


def points_by_lesson() -> dict[str, tuple[float, float]]:
    """Return the points of the last check and the possible points of each checked lesson, without damaged entries."""
    found = {}
    for lesson, one in _checked().items():
        with contextlib.suppress(KeyError, TypeError, ValueError):
            found[lesson] = float(one["points"]), float(one["possible"])
    return found


def _checked() -> dict[str, dict[str, Any]]:
    stored = _load(POINTS)
    lessons = stored.get("lessons") if stored.get("format") == FORMAT else None
    return {name: one for name, one in lessons.items() if isinstance(one, dict)} if isinstance(lessons, dict) else {}


def checked_work(lesson: str) -> CheckedWork | None:
    """Return the file of a lesson that earned most points so far, or None if no file was checked."""
    try:
        best = _load(POINTS)["lessons"][lesson][_BEST]  # type: ignore[index]
        return CheckedWork(float(best["points"]), str(best["path"]), str(best["code"]))
    except (KeyError, TypeError, ValueError):
        return None


def _store(name: str, content: dict[str, object]) -> None:
    write_atomically(state_folder() / name, json.dumps(content, indent=1).encode())


def _load(name: str) -> dict[str, object]:
    try:
        loaded = json.loads((state_folder() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}

"""Store a student's hints read and last points in JSON files of the user's state folder.

`python -m lessons` shows the points in its list of lessons. `lessons/engine/listing.py` describes their format.
"""

import contextlib
import json
from typing import Final

from grader.course.roll import is_faulted
from grader.files import WriteError, write_atomically
from grader.records import Report
from harness.storage.user_state import state_folder

HINTS: Final = "hints.json"
POINTS: Final = "exercise_points.json"
FORMAT: Final = 1


def hints_read() -> dict[str, int]:
    """Return by full name of a task how many of its hints the student has read."""
    return {name: number for name, number in _load(HINTS).items() if isinstance(number, int) and number >= 0}


def keep_hints(read: dict[str, int]) -> None:
    """Store by full name of a task how many of its hints the student has read."""
    write_atomically(state_folder() / HINTS, json.dumps(read, indent=1).encode())


def keep_points(report: Report) -> None:
    """Store the points of a checked lesson. If a task has no grade, keep the earlier points.

    If the state folder cannot be read or written, the points are not stored.
    """
    if is_faulted(report):
        return
    stored = _load(POINTS)
    lessons = stored.get("lessons") if stored.get("format") == FORMAT else None
    kept = {name: one for name, one in lessons.items() if isinstance(one, dict)} if isinstance(lessons, dict) else {}
    kept[report.submission.lesson] = {"points": report.points, "possible": report.max_points}
    text = json.dumps({"format": FORMAT, "lessons": kept}, indent=1, sort_keys=True)
    with contextlib.suppress(OSError, WriteError):
        write_atomically(state_folder() / POINTS, f"{text}\n".encode())


def _load(name: str) -> dict[str, object]:
    """Return the JSON object in a file of the state folder, or {} if the file is missing or damaged."""
    try:
        loaded = json.loads((state_folder() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}

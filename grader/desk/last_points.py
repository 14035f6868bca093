"""Store the points of a student's last `check` of each lesson in the user's state folder.

`python -m lessons` shows them in its list of lessons. The format of the file is described in
lessons/engine/listing.py.
"""

import contextlib
import json
from typing import Final

from grader.course.roll import is_faulted
from grader.files import WriteError, write_atomically
from grader.records import Report
from harness.storage.user_state import state_folder

NAME: Final = "exercise_points.json"
FORMAT: Final = 1


def keep(report: Report) -> None:
    """Store the points of a checked lesson. If a task has no grade, keep the earlier points.

    If the state folder cannot be read or written, the points are not stored.
    """
    if is_faulted(report):
        return
    lessons = {**_stored(), report.submission.lesson: {"points": report.points, "possible": report.max_points}}
    text = json.dumps({"format": FORMAT, "lessons": lessons}, indent=1, sort_keys=True)
    with contextlib.suppress(OSError, WriteError):
        write_atomically(state_folder() / NAME, f"{text}\n".encode())


def _stored() -> dict[str, object]:
    """Return the stored points by lesson, or {} if the file is missing or damaged."""
    try:
        stored = json.loads((state_folder() / NAME).read_text(encoding="utf-8"))
        lessons = stored["lessons"] if stored["format"] == FORMAT else {}
        return {lesson: entry for lesson, entry in lessons.items() if isinstance(entry, dict)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}

"""Take in students' requests for another grading. Each is a sentence on one lesson, which staff answer."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from grader.class_run import rows
from grader.server.staff_views import StudentRequest

MOST_CHARACTERS: Final = 500


def problem(sentence: str, earlier: Sequence[StudentRequest]) -> str:
    """Return why a student with these `earlier` requests for a lesson cannot make a new one, or ""."""
    if any(one.answered is None for one in earlier):
        return "You already have an open request for this lesson. Wait for its answer."
    if not sentence.strip():
        return "Write one sentence on what should be looked at again."
    if len(sentence) > MOST_CHARACTERS:
        return f"Your text has {len(sentence)} characters. Shorten it to {MOST_CHARACTERS}."
    return ""


def ask(db: sqlite3.Connection, student: str, lesson: str, sentence: str, at: datetime) -> None:
    """Store a request for another grading."""
    row = {"student": student, "lesson": lesson, "sentence": " ".join(sentence.split()), "at_utc": at.isoformat()}
    rows.insert(db, "requests", row)

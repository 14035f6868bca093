"""Points as `nbgrader export` writes them: one row for each lesson and student, in nbgrader's columns and order.

As there, who handed in nothing has 0 points. Where there is no grade (not graded yet, or a fault of ours), the cells of
the scores are empty.
"""

import csv
import io
from datetime import datetime

from grader.class_run.roll import Roll
from grader.reports.sheet import harmless

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


def render(roll: Roll) -> str:
    """Return the file's text."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    grades = roll.grades()
    standings = {(one.student, one.lesson): one for one in roll.standings}
    for lesson in roll.lessons:
        for student in roll.students:
            points = grades[student].get(lesson, 0.0)
            standing = standings.get((student, lesson))
            due, at = (standing.due, standing.handed_in) if standing else (None, None)
            raw = standing.raw if standing and standing.raw is not None else points
            scores: list[str | float] = ["", "", ""]
            if points is not None and raw is not None:
                scores = [float(raw), round(raw - points, 2), float(points)]
            email = harmless(student) if "@" in student else ""
            row = [lesson, _time(due), _time(at), harmless(student), "", "", email, *scores, roll.possible(lesson)]
            table.writerow(row)
    return text.getvalue()


def _time(moment: datetime | None) -> str:
    """A moment as nbgrader writes it: in UTC, without saying so."""
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment else ""

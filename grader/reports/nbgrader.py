"""Points as `nbgrader export` writes them: one row for each lesson and student, in nbgrader's columns and order.

As there, who handed in nothing has 0 points. Where there is no grade (not graded yet, or a fault of ours), the cells of
the scores are empty.
"""

import csv
import io

from grader.reports.sheet import harmless
from grader.roll import Roll

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
    for lesson in roll.lessons:
        for student in roll.students:
            points = grades[student].get(lesson, 0.0)
            score = "" if points is None else float(points)
            late = "" if points is None else 0.0
            email = harmless(student) if "@" in student else ""
            row = [lesson, "", "", harmless(student), "", "", email, score, late, score, roll.possible(lesson)]
            table.writerow(row)
    return text.getvalue()

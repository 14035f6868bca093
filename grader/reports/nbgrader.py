"""Points in the CSV format of `nbgrader export`: one row for each pair of lesson and student.

As in nbgrader, a student without a submission has 0 points. The cells of a submission without a grade are empty.
"""

from datetime import datetime

from grader.course.roll import Roll
from grader.reports.csv_file import csv_text

COLUMNS = ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"]
SCORES = ["raw_score", "late_submission_penalty", "score", "max_score"]


def render(roll: Roll) -> str:
    """Return the points of a class as CSV text with the columns of nbgrader."""
    rows: list[list[str | float]] = [[*COLUMNS, *SCORES]]
    grades, standings = roll.grades(), {(one.student, one.lesson): one for one in roll.standings}
    for lesson in roll.lessons:
        for student in roll.students:
            points = grades[student].get(lesson, 0.0)
            standing = standings.get((student, lesson))
            due, at = (standing.due, standing.handed_in) if standing else (None, None)
            raw = standing.raw if standing and standing.raw is not None else points
            scores: list[str | float] = ["", "", ""]
            if points is not None and raw is not None:
                scores = [float(raw), round(raw - points, 2), float(points)]
            person = roll.roster.students.get(student)
            email = person.email if person else student if "@" in student else ""
            rows.append([lesson, _time(due), _time(at), student, "", "", email, *scores, roll.possible(lesson)])
    return csv_text(rows, "\n")


def _time(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment else ""

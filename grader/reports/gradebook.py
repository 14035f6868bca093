"""The points of a class as a CSV file that Canvas imports: one row per student, one column per lesson.

Canvas identifies a student by the column "SIS Login ID", which holds the name of the student's folder or zip. The
heading of a lesson's column is `<Title> (<lesson>)`. It has no Canvas assignment number, so Canvas asks the instructor
for the assignment. A cell is empty if nothing was handed in, if the hand-in is not graded yet, or if the grader failed.
An empty cell changes nothing in Canvas.
"""

import csv
import io

from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import defuse_formula

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POSSIBLE = "Points Possible"


def render(roll: Roll) -> str:
    """Return the points of a class as CSV text for Canvas."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow([*HEADER, *map(heading, roll.lessons)])
    table.writerow([POSSIBLE, "", "", "", "", *(grade_texts.points(roll.possible(each)) for each in roll.lessons)])
    for student, grades in roll.grades().items():
        earned = (grades.get(lesson) for lesson in roll.lessons)
        cells = ["" if points is None else grade_texts.points(points) for points in earned]
        table.writerow([defuse_formula(student), "", "", defuse_formula(student), "", *cells])
    return text.getvalue()


def heading(lesson: str) -> str:
    """Return the heading of a lesson's column. Canvas uses the heading as the name of the assignment."""
    return f"{grade_texts.title(lesson)} ({lesson})"

"""Points as a CSV file that Canvas imports: one row a student, one column a lesson.

Canvas finds a student by "SIS Login ID"; the name of the folder or zip that was handed in stands there. A
lesson's column is `<Title> (<lesson>)`: that is not the number of a Canvas assignment, so the import asks
which one is meant. A cell is empty, which changes nothing in Canvas, where there is no grade: nothing handed
in, not graded yet, or a fault of ours.
"""

import csv
import io

from grader.class_run.roll import Roll
from grader.reports import words
from grader.reports.sheet import harmless

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POSSIBLE = "Points Possible"


def render(roll: Roll) -> str:
    """Return the file's text."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow([*HEADER, *map(heading, roll.lessons)])
    table.writerow([POSSIBLE, "", "", "", "", *(words.points(roll.possible(each)) for each in roll.lessons)])
    for student, grades in roll.grades().items():
        earned = (grades.get(lesson) for lesson in roll.lessons)
        cells = ["" if points is None else words.points(points) for points in earned]
        table.writerow([harmless(student), "", "", harmless(student), "", *cells])
    return text.getvalue()


def heading(lesson: str) -> str:
    """Return what a lesson's column is called, and so the assignment that Canvas makes of it."""
    return f"{title(lesson)} ({lesson})"


def title(lesson: str) -> str:
    """Return a lesson's name for people: "04_autorange" → "Autorange"."""
    return lesson.partition("_")[2].replace("_", " ").capitalize() or lesson

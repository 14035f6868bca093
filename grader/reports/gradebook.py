"""Points as a CSV file that Canvas imports: one row a student, one column a lesson.

Canvas finds a student by "SIS Login ID"; the name of the folder or zip that was handed in stands there. A
lesson's column is `<Title> (<lesson>)`: that is not the number of a Canvas assignment, so the import asks
which one is meant. A cell is empty, which changes nothing in Canvas, where there is no grade: nothing handed
in, not graded yet, or a fault of ours.
"""

import csv
import io

from grader.reports import words
from grader.roll import Roll, is_faulted

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POSSIBLE = "Points Possible"

_FORMULA = tuple("=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}")
"""What a spreadsheet takes for the beginning of a formula. Source: OWASP, "CSV Injection"."""


def render(roll: Roll) -> str:
    """Return the file's text."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow([*HEADER, *(f"{title(lesson)} ({lesson})" for lesson in roll.lessons)])
    table.writerow([POSSIBLE, "", "", "", "", *(words.points(roll.possible(each)) for each in roll.lessons)])
    for student, reports in roll.by_student().items():
        cells = []
        for lesson in roll.lessons:
            report = reports.get(lesson)
            cells.append("" if report is None or is_faulted(report) else words.points(report.points))
        table.writerow([harmless(student), "", "", harmless(student), "", *cells])
    return text.getvalue()


def title(lesson: str) -> str:
    """Return a lesson's name for people: "04_autorange" → "Autorange"."""
    return lesson.partition("_")[2].replace("_", " ").capitalize() or lesson


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: where it might, an apostrophe stands before it.

    A space before the sign does not make it harmless.
    """
    return "'" + text if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text

"""Where the pages of a class lie, as seen from the class's own page."""

from urllib.parse import quote

from grader.class_run import place
from grader.class_run.roll import folder_name

BOARD = place.BOARD
PAGE = "report.html"
"""The class's page in OUT, and a student's in the student's folder."""
RESULTS = "results.json"


def student(name: str, task: str = "") -> str:
    """Return the address of a student's page, or of one task on it."""
    return f"{quote(folder_name(name))}/{PAGE}{'#' + quote(task) if task else ''}"

"""Relative addresses for the links from the class page to other pages of the class."""

from urllib.parse import quote

from grader.course.roll import folder_name

BOARD = "leaderboard.html"
PAGE = "report.html"
"""The file name of the class page in OUT, and of a student's page in the student's folder."""
RESULTS = "results.json"


def student(name: str, task: str = "") -> str:
    """Return the address of a student's page or, if `task` is given, of the task's section on that page."""
    return f"{quote(folder_name(name))}/{PAGE}{'#' + quote(task) if task else ''}"

"""Relative addresses of students' pages, for links on the class page."""

from urllib.parse import quote

from grader.course.roll import folder_name

BOARD = "leaderboard.html"
PAGE = "report.html"
"""The file name of the class page in the output folder, and of a student's page in the student's folder."""
RESULTS = "results.json"


def student(name: str, task: str = "") -> str:
    """Return the relative address of a student's page or, if `task` is given, of the task's section on that page."""
    return f"{quote(folder_name(name))}/{PAGE}{'#' + quote(task) if task else ''}"

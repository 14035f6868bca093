"""Reports of a class: each a pure function from `Roll` to text, one format a module; this one writes them.

OUT/report.html                the class, for the instructor           page
OUT/gradebook.csv              points, for Canvas                      gradebook
OUT/<student>/results.json     one student, in Gradescope's shape      gradescope
"""

from pathlib import Path

from grader.files import explained, write_atomically
from grader.reports import gradebook, gradescope, page
from grader.roll import Roll, folder_name

PAGE = "report.html"
GRADEBOOK = "gradebook.csv"
RESULTS = "results.json"


def write(roll: Roll, out: Path) -> int:
    """Write all reports of a class into `out`, each whole or not at all. Return how many files changed.

    Raises `WriteError` when one cannot be written; run `report` again when there is room.
    """
    texts = {out / PAGE: page.render(roll), out / GRADEBOOK: gradebook.render(roll)}
    for student in roll.students:
        folder = out / folder_name(student)
        with explained(folder):
            folder.mkdir(exist_ok=True)
        texts[folder / RESULTS] = gradescope.render(roll, student)
    return sum(write_atomically(path, text.encode()) for path, text in texts.items())

"""The files that a course exports: points for other systems, and a zip with the page of each student.

They are made in the folder of grades, as the commands `export` and `return` do.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import reports
from grader.class_run import export, feedback
from grader.class_run.feedback import Form
from grader.errors import UsageError
from grader.files import rights, write_atomically
from grader.reports import canvas
from grader.server.course_folder import CourseFolder

GRADEBOOK, PAGES = "gradebook", "pages"
FILES: Final = {
    GRADEBOOK: reports.GRADEBOOK,
    "canvas": "canvas.csv",
    "moodle": "moodle.csv",
    "nbgrader": "nbgrader.csv",
    "junit": "junit.xml",
    PAGES: "pages.zip",
}
"""The file of each format."""

FILLED: Final = ("canvas", "moodle")
"""The formats that fill in a file of the platform."""

NO_FILE: Final = (
    "Choose the file of the platform: for Canvas the export of its gradebook, for Moodle the grading worksheet of the "
    "assignment."
)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is exported: the format, the lessons (() means all), and the options of the command `export`."""

    form: str
    lessons: Sequence[str] = ()
    columns: Sequence[str] = ()
    scale: bool = False


def make(course: CourseFolder, wanted: ExportOptions, data: bytes, name: str) -> tuple[str, ...]:
    """Write an export, and return the lines that the command prints, without the folders of this machine.

    `data` is the file called `name` of a platform, for the formats that fill one in. Raise `UsageError` for a wrong
    file or wrong options.
    """
    with tempfile.TemporaryDirectory() as folder:
        plain = "".join(filter(str.isprintable, Path(name).name))[-60:]
        source = Path(folder) / (plain or "export.csv")

        def shown(text: str) -> str:
            return text.replace(f"{folder}/", "").replace(f"{course.grades}/", "")

        try:
            if wanted.form in FILLED:
                source.write_bytes(data)
            return tuple(map(shown, _lines(course, wanted, source if data else None)))
        except UsageError as error:
            raise UsageError(shown(str(error))) from None


def _lines(course: CourseFolder, wanted: ExportOptions, source: Path | None) -> list[str]:
    out, form, lessons = course.grades, wanted.form, wanted.lessons
    with course.opened() as opened:
        if form == PAGES:
            to = out / FILES[PAGES]
            return feedback.return_pages(opened.book, Form.FOLDER, to=to, lessons=lessons, force=True)[0]
        roll = opened.book.roll()
    if form == GRADEBOOK:
        text = canvas.render(roll.only(lessons) if lessons else roll)
        write_atomically(out / FILES[GRADEBOOK], text.encode(), mode=rights(out))
        return [f"Wrote {FILES[GRADEBOOK]}."]
    if form in FILLED and source is None:
        raise UsageError(NO_FILE)
    given, columns = source if form in FILLED else None, wanted.columns
    return export.export(roll, out, form, given, lessons=lessons, columns=columns, scale=wanted.scale)[0]

"""Write the reports of a class, each with the module named below.

Report                         Content and reader                       Module
OUT/report.html                all students, for the instructor         class_page
OUT/gradebook.csv              points, for Canvas                       canvas
OUT/leaderboard.html           ratios, for the students of the class    leaderboard
OUT/<student>/report.html      one student's grades, for that student   student_page
OUT/<student>/results.json     one student's grades, for Gradescope     gradescope

OUT is the output folder. The leaderboard is only written with --leaderboard.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from grader import catalogue
from grader.course.roll import Roll, folder_name
from grader.errors import FairclockError
from grader.files import explained, rights, write_atomically
from grader.records import Fault, Report
from grader.reports import canvas, class_page, gradescope, leaderboard, student_page
from grader.reports.grade_texts import BOARD, PAGE, RESULTS
from grader.reports.leaderboard import NameOf
from grader.task import Task
from harness.machine.environment import Environment
from harness.rendering import units

__all__ = ["BOARD", "GRADEBOOK", "PAGE", "RESULTS", "Written", "known_tasks", "made", "student_pages", "write"]

GRADEBOOK = "gradebook.csv"

Whole = Callable[[str], Sequence[Report]]
"""A function that takes a student's name and returns the student's reports with all single measurements."""


@dataclass(slots=True)
class Written:
    """Writes reports into the folder `out` one at a time, because all reports of a large class need much memory.

    `changed` is the number of report files that changed. `unmade` has the internal error of each incomplete report.
    """

    out: Path
    changed: int = 0
    unmade: dict[Path, Fault] = field(default_factory=dict)

    def lines(self) -> tuple[str, ...]:
        """Return a message that names the incomplete reports, or () if all reports are complete."""
        if not self.unmade:
            return ()
        names = units.few([str(path.relative_to(self.out)) for path in self.unmade])
        failed = f"{units.some(len(self.unmade), 'report')} could not be written completely: {names}"
        see = f"All grades are kept. To see the error, run: python -m grader report {self.out} --debug"
        return (f"Internal error: {failed}. {see}",)

    def write(self, path: Path, make: Callable[[], str]) -> bool:
        """Write the text that `make` returns to `path`. If `make` fails, remove the file and return False.

        The file is not synced to disk, because it can be made again from the stored grades.
        """
        text = made(make)
        if isinstance(text, Fault):
            self.unmade[path] = text
            self.remove(path)
            return False
        self.changed += write_atomically(path, text, mode=rights(self.out), durable=False)
        return True

    def write_of_class(self, path: Path, render: Callable[[Roll], str], roll: Roll) -> None:
        """Write a report on the whole class. If that fails, leave out the students whose data cause the error."""
        if self.write(path, partial(render, roll)):
            return
        fit = {student for student, alone in roll.one_by_one() if isinstance(made(partial(render, alone)), bytes)}
        if 0 < len(fit) < len(roll.students):
            note = "{}: not in this report, because of an internal error".format
            left_out = tuple(note(student) for student in roll.students if student not in fit)
            self.write(path, partial(render, replace(roll.among(fit), notes=(*roll.notes, *left_out))))

    def remove(self, path: Path) -> None:
        """Remove the report of an earlier run at `path`, if there is one."""
        if path.exists():
            with explained(path):
                path.unlink()
            self.changed += 1

    def remove_pages(self, folder: Path) -> None:
        """Remove the reports on one student, and their folder if it is empty then."""
        self.remove(folder / RESULTS)
        self.remove(folder / PAGE)
        with suppress(OSError):  # other files, or no folder
            folder.rmdir()


def write(
    roll: Roll,
    out: Path,
    *,
    whole: Whole | None = None,
    name_of: NameOf | None = None,
    changed: Collection[str] | None = None,
) -> Written:
    """Write all reports of a class into the folder `out`. Each file is written atomically.

    `whole` returns a student's reports with all measurements. `name_of` returns a student's name on the leaderboard.
    Without it, an earlier leaderboard is removed. With `changed`, only the pages of these students are written again,
    and the reports on the whole class. A report that fails because of an internal error is left out. Raise
    `WriteError` if a file cannot be written, for example because the disk is full.
    """
    infos, writer = known_tasks(roll), Written(out)
    for alone, page in student_pages(roll, infos, whole, name_of):
        if changed is not None and alone.students[0] not in changed:
            continue
        folder = out / folder_name(alone.students[0])
        with explained(folder):
            folder.mkdir(mode=out.stat().st_mode & 0o777, exist_ok=True)
        writer.write(folder / RESULTS, partial(gradescope.render, alone))
        writer.write(folder / PAGE, page)
    missing = (
        f"{path.relative_to(out)}: missing because of an internal error ({fault.kind})"
        for path, fault in writer.unmade.items()
    )
    roll = replace(roll, notes=(*roll.notes, *missing))
    writer.write_of_class(out / PAGE, partial(class_page.render, infos=infos, board=name_of is not None), roll)
    writer.write_of_class(out / GRADEBOOK, canvas.render, roll)
    if name_of:
        writer.write_of_class(out / BOARD, partial(leaderboard.render, name_of=name_of), roll.published())
    else:
        writer.remove(out / BOARD)
    return writer


def student_pages(
    roll: Roll, infos: Mapping[str, Task], whole: Whole | None, name_of: NameOf | None
) -> Iterator[tuple[Roll, Callable[[], str]]]:
    """Yield each student's own part of the class, and a function that returns the student's page.

    Both lack the results that the course hides from students.
    """

    def page_of(alone: Roll) -> str:
        (student,) = alone.students
        shown = {one.submission.lesson for one in alone.reports}
        own = (one for one in whole(student) if one.submission.lesson in shown) if whole else alone.reports
        pseudonym = name_of(student) if name_of else ""
        return student_page.render(replace(alone, reports=tuple(own)), infos, pseudonym=pseudonym)

    for _, alone in roll.published().one_by_one():
        yield alone, partial(page_of, alone)


def known_tasks(roll: Roll) -> dict[str, Task]:
    """Return the tasks of the exercises by full name, or {} if another version of fairclock graded the class."""
    same = roll.kit == Environment.capture(ask_cuda=False).kit
    return {task.full_name: task for task in catalogue.all_tasks()} if same else {}


def made(make: Callable[[], str]) -> bytes | Fault:
    """Return the text that `make` returns as UTF-8, or the internal error that prevents it."""
    try:
        return make().encode()
    except FairclockError:
        raise
    except Exception as error:  # noqa: BLE001 - only this report is lost
        return Fault.of(error)

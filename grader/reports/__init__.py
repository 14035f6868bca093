"""Write the reports of a class, each with the module named below.

Report                         Content and reader                       Module
OUT/report.html                all students, for the instructor         class_page
OUT/gradebook.csv              points, for Canvas                       gradebook
OUT/leaderboard.html           ratios, for the students of the class    leaderboard
OUT/<student>/report.html      one student's grades, for that student   student_page
OUT/<student>/results.json     one student's grades, for Gradescope     gradescope

OUT is the output folder. The leaderboard is only written with --leaderboard.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from grader.course.roll import Roll, folder_name
from grader.errors import FairclockError
from grader.files import explained, write_atomically
from grader.records import Fault, Report
from grader.reports import class_page, gradebook, gradescope, leaderboard, student_page, task_info
from grader.reports.grade_texts import BOARD, PAGE, RESULTS
from grader.reports.pseudonyms import NameOf
from grader.task import Task
from harness.rendering import units

__all__ = ["BOARD", "GRADEBOOK", "PAGE", "RESULTS", "Unmade", "Written", "write"]

GRADEBOOK = "gradebook.csv"
_SHOWN_FILES = 5

Whole = Callable[[str], Sequence[Report]]
"""A function that takes a student's name and returns the student's reports with all single measurements.

Other reports lack these measurements, because they take much memory.
"""


@dataclass(frozen=True, slots=True)
class Unmade:
    """A report that is missing, or that lacks some students, because of an internal error."""

    path: Path
    fault: Fault


@dataclass(slots=True)
class Written:
    """Writes reports one at a time, because all reports of a large class would not fit into memory.

    `changed` is the number of report files that changed. `unmade` are the reports that are incomplete because of
    internal errors.
    """

    changed: int = 0
    unmade: list[Unmade] = field(default_factory=list)

    def lines(self, out: Path) -> tuple[str, ...]:
        """Return a message that names the incomplete reports, or () if all reports are complete."""
        if not self.unmade:
            return ()
        names = ", ".join(str(one.path.relative_to(out)) for one in self.unmade[:_SHOWN_FILES])
        more = f" and {len(self.unmade) - _SHOWN_FILES} more" if len(self.unmade) > _SHOWN_FILES else ""
        failed = f"{units.some(len(self.unmade), 'report')} could not be written completely: {names}{more}"
        see = f"All grades are kept. To see the error, run: python -m grader report {out} --debug"
        return (f"Internal error: {failed}. {see}",)

    def write(self, path: Path, make: Callable[[], str]) -> None:
        """Write the text that `make` returns to `path`. If `make` fails because of an internal error, remove the file.

        The file is not synced to disk, because it can be made again from the stored grades.
        """
        try:
            data = make().encode()
        except FairclockError:
            raise
        except Exception as error:  # noqa: BLE001 - only this report is lost
            self.unmade.append(Unmade(path, Fault.of(error)))
            self.remove(path)
            return
        self.changed += write_atomically(path, data, durable=False)

    def write_of_class(self, path: Path, render: Callable[[Roll], str], roll: Roll) -> None:
        """Write a report on the whole class. If that fails, leave out the students whose data cause the error."""
        self.write(path, partial(render, roll))
        if not (self.unmade and self.unmade[-1].path == path):
            return
        fit = {student for student, alone in roll.one_by_one() if _can(render, alone)}
        if 0 < len(fit) < len(roll.students):
            note = "{}: not in this report, because of an internal error".format
            left_out = tuple(note(student) for student in roll.students if student not in fit)
            rest = replace(roll.among(fit), notes=(*roll.notes, *left_out))
            if _can(render, rest):
                self.write(path, partial(render, rest))

    def remove(self, path: Path) -> None:
        """Remove the report of an earlier run at `path`, if there is one."""
        if path.exists():
            with explained(path):
                path.unlink()
            self.changed += 1


def write(roll: Roll, out: Path, *, whole: Whole | None = None, name_of: NameOf | None = None) -> Written:
    """Write all reports of a class into the folder `out`. Each file is written atomically.

    `whole` returns a student's reports with all measurements. `name_of` returns a student's name on the leaderboard.
    Without it, no leaderboard is written, and an earlier one is removed, because it would show old grades. If an
    internal error prevents the report of one student, only this report is missing, and its earlier version is removed.
    Raise `WriteError` if a file cannot be written, for example because the disk is full.
    """
    infos = task_info.known_tasks(roll)
    writer = Written()
    for student, alone in roll.one_by_one():
        folder = out / folder_name(student)
        with explained(folder):
            folder.mkdir(exist_ok=True)
        writer.write(folder / RESULTS, partial(gradescope.render, alone, student))
        writer.write(folder / PAGE, partial(_page_of, student, alone, infos, whole, name_of))
    missing = (
        f"{one.path.relative_to(out)}: missing because of an internal error ({one.fault.kind})" for one in writer.unmade
    )
    roll = replace(roll, notes=(*roll.notes, *missing))
    writer.write_of_class(out / PAGE, partial(class_page.render, infos=infos, board=name_of is not None), roll)
    writer.write_of_class(out / GRADEBOOK, gradebook.render, roll)
    if name_of:
        writer.write_of_class(out / BOARD, partial(leaderboard.render, name_of=name_of), roll)
    else:
        writer.remove(out / BOARD)
    return writer


def _page_of(student: str, alone: Roll, infos: Mapping[str, Task], whole: Whole | None, name_of: NameOf | None) -> str:
    detailed = replace(alone, reports=tuple(whole(student))) if whole else alone
    return student_page.render(detailed, infos, pseudonym=name_of(student) if name_of else "")


def _can(render: Callable[[Roll], str], roll: Roll) -> bool:
    """Return whether `render` makes a report of this class without an exception."""
    try:
        return bool(render(roll).encode())
    except Exception:  # noqa: BLE001 - any error means that the report cannot be made
        return False

"""Reports of a class: each a pure function from `Roll` to text, one format a module; this one writes them.

OUT/report.html                the class, for the instructor           class_page
OUT/gradebook.csv              points, for Canvas                      gradebook
OUT/leaderboard.html           ratios, for the class; only when asked  leaderboard
OUT/<student>/report.html      one student, for that student           student_page
OUT/<student>/results.json     one student, in Gradescope's shape      gradescope
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.class_run.journal import Journal
from grader.class_run.roll import Roll, folder_name
from grader.errors import FairclockError
from grader.files import explained, write_atomically
from grader.records import Fault, Report
from grader.reports import class_page, gradebook, gradescope, guide, leaderboard, pseudonyms, student_page
from grader.reports.links import BOARD, PAGE, RESULTS
from grader.reports.pseudonyms import NameOf
from harness import units

__all__ = ["BOARD", "GRADEBOOK", "PAGE", "RESULTS", "Unmade", "Written", "of_journal", "write"]

GRADEBOOK = "gradebook.csv"
_SHOWN_FILES = 5

Whole = Callable[[str], Sequence[Report]]
"""Gives the reports of a student with their raw rounds, which a `Roll` of a large class does not carry."""


@dataclass(frozen=True, slots=True)
class Unmade:
    """A report that the grader failed to make, or to make `whole`: then it is there without some students."""

    path: Path
    fault: Fault


@dataclass(frozen=True, slots=True)
class Written:
    """How many files changed, and which reports the grader failed to make."""

    changed: int
    unmade: tuple[Unmade, ...]

    def lines(self, out: Path) -> tuple[str, ...]:
        """Return what the instructor reads of the reports that failed; nothing where none did."""
        if not self.unmade:
            return ()
        names = ", ".join(str(one.path.relative_to(out)) for one in self.unmade[:_SHOWN_FILES])
        more = f" and {len(self.unmade) - _SHOWN_FILES} more" if len(self.unmade) > _SHOWN_FILES else ""
        failed = f"The grader failed to make {units.some(len(self.unmade), 'report')} whole: {names}{more}."
        return (f"{failed} Every grade is kept. To see why: python -m grader report {out} --debug.",)


def of_journal(book: Journal) -> tuple[Roll, Written]:
    """Write all reports of the class in a journal beside it; return the class, and how that went.

    There is a leaderboard where the journal remembers the names for it (`pseudonyms.chosen`). Raises `UsageError` for
    names that cannot be had and, as `write` does, `WriteError`.
    """
    roll, board = book.roll(), book.board()
    name_of = pseudonyms.chosen(board, book.pseudonym_key(), roll.students) if board else None
    return roll, write(roll, book.out, whole=book.reports, name_of=name_of)


def write(roll: Roll, out: Path, *, whole: Whole | None = None, name_of: NameOf | None = None) -> Written:
    """Write all reports of a class into `out`, each whole or not at all.

    `name_of` asks for the leaderboard, under these names; without it an earlier one is taken away, as it would show
    grades of before. What one student's report raises ends that report alone; an earlier one is taken away for the same
    reason. Raises `WriteError` when a report cannot be written; run `report` again when there is room.
    """
    guides = guide.guides(roll)
    writer = _Writer()
    for student, alone in roll.one_by_one():
        folder = out / folder_name(student)
        with explained(folder):
            folder.mkdir(exist_ok=True)
        writer.write(folder / RESULTS, partial(gradescope.render, alone, student))
        writer.write(folder / PAGE, partial(_page_of, student, alone, guides, whole, name_of))
    missing = (f"{one.path.relative_to(out)}: the grader failed to make it ({one.fault.kind})" for one in writer.unmade)
    roll = replace(roll, notes=(*roll.notes, *missing))
    writer.write_of_class(out / PAGE, partial(class_page.render, guides=guides, board=name_of is not None), roll)
    writer.write_of_class(out / GRADEBOOK, gradebook.render, roll)
    if name_of:
        writer.write_of_class(out / BOARD, partial(leaderboard.render, name_of=name_of), roll)
    else:
        writer.remove(out / BOARD)
    return Written(writer.changed, tuple(writer.unmade))


class _Writer:
    """Writes reports one after the other: those of a large class together would fill the memory."""

    def __init__(self) -> None:
        self.changed = 0
        self.unmade: list[Unmade] = []

    def write(self, path: Path, make: Callable[[], str]) -> None:
        """Write one report. The journal is what must last: of it each report can be made again."""
        try:
            data = make().encode()
        except FairclockError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this report alone
            self.unmade.append(Unmade(path, Fault.of(error)))
            self.remove(path)
            return
        self.changed += write_atomically(path, data, durable=False)

    def write_of_class(self, path: Path, render: Callable[[Roll], str], roll: Roll) -> None:
        """Write one report of the class. Where it cannot be made, write it without the students that prevent it."""
        self.write(path, partial(render, roll))
        if not (self.unmade and self.unmade[-1].path == path):
            return
        fit = {student for student, alone in roll.one_by_one() if _can(render, alone)}
        if 0 < len(fit) < len(roll.students):
            note = "{}: left out of this report, which the grader failed to make with it".format
            left_out = tuple(note(student) for student in roll.students if student not in fit)
            rest = replace(roll.among(fit), notes=(*roll.notes, *left_out))
            if _can(render, rest):
                self.write(path, partial(render, rest))

    def remove(self, path: Path) -> None:
        """Take away a report of an earlier run."""
        if path.exists():
            with explained(path):
                path.unlink()
            self.changed += 1


def _page_of(
    student: str, alone: Roll, guides: Mapping[str, guide.Guide], whole: Whole | None, name_of: NameOf | None
) -> str:
    detailed = replace(alone, reports=tuple(whole(student))) if whole else alone
    return student_page.render(detailed, guides, pseudonym=name_of(student) if name_of else "")


def _can(render: Callable[[Roll], str], roll: Roll) -> bool:
    """Tell whether a report of this class can be made."""
    try:
        return bool(render(roll).encode())
    except Exception:  # noqa: BLE001 - whatever it is, it cannot
        return False

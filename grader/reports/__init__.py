"""Reports of a class: each a pure function from `Roll` to text, one format a module; this one writes them.

OUT/report.html                the class, for the instructor           class_page
OUT/gradebook.csv              points, for Canvas                      gradebook
OUT/leaderboard.html           ratios, for the class; only when asked  leaderboard
OUT/<student>/report.html      one student, for that student           student_page
OUT/<student>/results.json     one student, in Gradescope's shape      gradescope
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.class_run.journal import Journal
from grader.class_run.roll import Roll, folder_name
from grader.files import explained, write_atomically
from grader.records import Report
from grader.reports import class_page, gradebook, gradescope, guide, leaderboard, pseudonyms, student_page
from grader.reports.links import BOARD, PAGE, RESULTS
from grader.reports.pseudonyms import NameOf

__all__ = ["BOARD", "GRADEBOOK", "PAGE", "RESULTS", "of_journal", "write"]

GRADEBOOK = "gradebook.csv"

Whole = Callable[[str], Sequence[Report]]
"""Gives the reports of a student with their raw rounds, which a `Roll` of a large class does not carry."""


def of_journal(book: Journal, board: str = "") -> tuple[Roll, int]:
    """Write all reports of the class in a journal beside it; return the class, and how many files changed.

    `board` asks for a leaderboard under these names (`pseudonyms.chosen`). Raises `UsageError` for names that cannot
    be had and, as `write` does, `WriteError`.
    """
    roll = book.roll()
    name_of = pseudonyms.chosen(board, book.pseudonym_key(), roll.students) if board else None
    return roll, write(roll, book.out, whole=book.reports, name_of=name_of)


def write(roll: Roll, out: Path, *, whole: Whole | None = None, name_of: NameOf | None = None) -> int:
    """Write all reports of a class into `out`, each whole or not at all. Return how many files changed.

    `name_of` asks for the leaderboard, under these names; without it an earlier one is taken away, as it would show
    grades of before. Raises `WriteError` when a report cannot be written; run `report` again when there is room.
    """
    changed = sum(_write(path, text) for path, text in _texts(roll, out, whole, name_of))
    board = out / BOARD
    if name_of is None and board.exists():
        with explained(board):
            board.unlink()
        changed += 1
    return changed


def _write(path: Path, text: str) -> bool:
    """Write one report. The journal is what must last: of it each report can be made again."""
    return write_atomically(path, text.encode(), durable=False)


def _texts(roll: Roll, out: Path, whole: Whole | None, name_of: NameOf | None) -> Iterator[tuple[Path, str]]:
    """Make one report after the other: those of a large class together would fill the memory."""
    guides = guide.guides(roll)
    yield out / PAGE, class_page.render(roll, guides, board=name_of is not None)
    yield out / GRADEBOOK, gradebook.render(roll)
    if name_of:
        yield out / BOARD, leaderboard.render(roll, name_of)
    for student, alone in roll.one_by_one():
        folder = out / folder_name(student)
        with explained(folder):
            folder.mkdir(exist_ok=True)
        yield folder / RESULTS, gradescope.render(alone, student)
        detailed = replace(alone, reports=tuple(whole(student))) if whole else alone
        pseudonym = name_of(student) if name_of else ""
        yield folder / PAGE, student_page.render(detailed, guides, pseudonym=pseudonym)

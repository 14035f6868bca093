"""Write the reports of a class from its database of grades, and list the grades that are missing."""

import shlex
from collections.abc import Iterator

from grader import reports, seeds
from grader.class_run.journal import Journal
from grader.course.roll import Roll, is_faulted, is_too_noisy
from grader.reports import grade_texts, leaderboard
from harness.rendering import units

_SHOWN = 10


def publish(book: Journal) -> tuple[Roll, reports.Written]:
    """Write all reports of the class into the folder of its database. Return the class and the result of writing.

    A leaderboard is written if the database states which names it shows. Raise `UsageError` if these names cannot be
    used. Raise `WriteError` if a report cannot be written.
    """
    roll, board = book.roll(), book.board()
    name_of = leaderboard.names_for(board, book.pseudonym_key(), roll.students) if board else None
    return roll, reports.write(roll, book.out, whole=book.reports, name_of=name_of)


def ungraded_lines(roll: Roll, book: Journal) -> Iterator[str]:
    """Yield lines that tell the instructor which points are not final yet. Yield nothing if all points are final."""
    found = [f"{one.student}, {one.lesson} ({one.path})" for one in roll.waiting]
    for report in filter(is_faulted, roll.reports):
        given, why = report.submission, "the machine was too noisy" if is_too_noisy(report) else "an internal error"
        found.append(f"{given.student}, {given.lesson} ({given.path}: {why})")
    if found:
        more = f" and {units.count(len(found) - _SHOWN)} more" if len(found) > _SHOWN else ""
        listed = "; ".join(found[:_SHOWN])
        yield f"Hand-ins that may count but have no grade ({units.count(len(found))}): {listed}{more}."
        yield "The points for these lessons are not final yet. This command grades the hand-ins:"
        yield f"  {_command(book)}"
    yield from roll.unmatched
    for one in roll.gone:
        yield f"{one.student}, {one.lesson}: {grade_texts.replaced_advice(one)}"


def _command(book: Journal) -> str:
    """Return the command line that grades the submissions. The database stores its course rules and lessons."""
    seed = () if (book.out / seeds.FILE).exists() else ("--seed-file", "FILE")
    bare = ("--no-sandbox",) if book.unsandboxed() else ()
    return shlex.join(["python", "-m", "grader", "run", book.folder, "--out", str(book.out), *seed, *bare])

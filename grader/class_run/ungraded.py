"""Hand-ins without a grade that the course's policy needs: which they are, and the command that grades them."""

import shlex
from collections.abc import Iterator

from grader.class_run.journal import SEED, Journal
from grader.class_run.roll import Roll, is_faulted
from grader.reports import words
from harness import units

_SHOWN = 10


def lines(roll: Roll, book: Journal) -> Iterator[str]:
    """Yield what the instructor reads of the hand-ins that have no final points; nothing where all have."""
    found = [f"{one.student}, {one.lesson} ({one.path})" for one in roll.waiting]
    reports = (report.submission for report in roll.reports if is_faulted(report))
    found += [f"{one.student}, {one.lesson} ({one.path}: a fault of the grader)" for one in reports]
    if found:
        more = f" and {units.count(len(found) - _SHOWN)} more" if len(found) > _SHOWN else ""
        listed = "; ".join(found[:_SHOWN])
        yield f"{units.some(len(found), 'hand-in')} without a grade that the policy needs: {listed}{more}."
        yield "Their lessons have no final points yet. This command grades them:"
        yield f"  {command(book)}"
    yield from roll.unmatched
    for one in roll.gone:
        yield f"{one.student}, {one.lesson}: {words.gone(one)}"


def command(book: Journal) -> str:
    """Return the command that grades what has no grade yet, by the policy and the lessons that are remembered."""
    seed = () if (book.out / SEED).exists() else ("--seed-file", "FILE")
    bare = ("--no-sandbox",) if book.unsandboxed() else ()
    return shlex.join(["python", "-m", "grader", "run", book.folder, "--out", str(book.out), *seed, *bare])

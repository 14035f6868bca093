"""The class run: collect → grade what has no grade yet → journal → reports; and go on where it stopped.

Equal content is graded once, whoever handed it in. How one submission is graded is passed in, and in which lanes. What
that raises, or a lane that was lost, is a fault of ours: the submission gets a verdict of GRADER_ERROR, which costs its
student nothing, the class goes on, and the next run tries it again.
"""

import difflib
import io
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from grader import reports
from grader.class_run import grading, hand_in, journal
from grader.class_run.course import Course
from grader.class_run.executors import Lanes
from grader.class_run.graded_on import changes
from grader.class_run.grading import Key
from grader.class_run.hand_in import Grade
from grader.class_run.roll import Roll, TaskPoints, is_faulted
from grader.class_run.standing import Stand
from grader.class_run.summary import Summary
from grader.hand_ins.collect import Collection, collect
from grader.records import Report, Status, Submission
from grader.reports import pseudonyms
from harness import units
from harness.clocks import wall
from harness.errors import UsageError

_LINES = 10  # how often a run tells its progress where nobody watches a bar


@dataclass(frozen=True, slots=True)
class Work:
    """What a run grades. `counting` are the hand-ins that may count, `needed` those of them without a grade.

    `distinct` are the hand-ins that are graded: one for each content. `again` are contents that are graded though they
    may have a grade.
    """

    counting: tuple[Submission, ...]
    needed: tuple[Submission, ...]
    distinct: tuple[Submission, ...]
    again: frozenset[Key]

    @classmethod
    def of(cls, submissions: Sequence[Submission], stands: Sequence[Stand], regrade: Names[str]) -> "Work":
        """Return what is to be graded of the `submissions` that are there; all of the students in `regrade`."""
        may = {(h.student, h.lesson, h.content) for one in stands for h in (row.hand_in for row in one.may_count)}
        lacks = {(h.student, h.lesson, h.content) for one in stands for h in one.needed}
        counting = tuple(one for one in submissions if (one.student, *grading.key(one)) in may)
        asked = tuple(one for one in counting if one.student in regrade)
        needed = tuple(one for one in counting if one.student in regrade or (one.student, *grading.key(one)) in lacks)
        distinct = {grading.key(one): one for one in reversed(needed)}
        return cls(counting, needed, tuple(reversed(distinct.values())), frozenset(map(grading.key, asked)))


def grade_class(
    folder: Path,
    out: Path,
    *,
    grade: Grade,
    tasks: Sequence[TaskPoints],
    lanes: Lanes,
    console: Console,
    kit: str,
    sandboxed: bool = True,
    seed_file: Path | None = None,
    about: str = "",
    course: Course | None = None,
    course_name: str = "",
    regrade: Names[str] = (),
    quiet: bool = False,
    board: str = "",
    known: Sequence[str] = (),
) -> Summary:
    """Grade the class in `folder` into `out` and write all reports. `grade` runs in `lanes`, which end with the run.

    `tasks` are those that the class is graded on, `known` further lessons of the kit. `console` (standard error) shows
    progress unless `quiet`, `about` is a line on how this machine grades, `sandboxed` stamps the hand-ins on which
    `grade` failed. `course` is the policy in the file `course_name`, by default that of the run before; what the
    students in `regrade` handed in is graded though nothing of theirs changed. `board` asks for a leaderboard under
    these names (`reports.of_journal`). Raises `UsageError` before it has touched anything, and `WriteError` when what
    was graded cannot be kept.
    """
    began_s = wall()
    tasks, before = tuple(dict.fromkeys(tasks)), journal.remembered(out)
    policy = course or before.course
    lessons = sorted({task.lesson for task in tasks})
    found = collect(folder, lessons, kit=kit, zone=policy.zone, known=known)
    _require_students(regrade, found, folder)
    policy.require_known(found.students, course_name or f"The course kept in {out}")
    pseudonyms.chosen(board, "", found.students)  # names that cannot be had are refused now, not after hours
    with journal.claim(out, folder, kit=kit) as book:
        seed = book.secret_seed(seed_file)
        if course:
            book.set_course(course.text)
        book.set_board(board)
        book.enrol(found, tasks)
        work = Work.of(found.submissions, book.stands(), regrade)
        console = Console(file=io.StringIO()) if quiet else console
        _open(console, (*_opening(folder, found, work, tasks, kit), about if work.distinct else ""))
        lane = partial(hand_in.graded, seed=seed, grade=grade, tasks=tasks, sandboxed=sandboxed)
        lost = partial(hand_in.lost, tasks=tasks, sandboxed=sandboxed)
        kept = _grade(work, book, lane, lost, lanes, console)
        roll, files = reports.of_journal(book)
    return Summary(
        roll,
        out,
        kept,
        wall() - began_s,
        interrupted=kept < len(work.distinct),
        board=bool(board),
        unmade=files.lines(out),
        told=(*changes(before.tasks, tasks, out), *_shared_again(roll, regrade, work.again)),
    )


def _open(console: Console, lines: Sequence[str]) -> None:
    for line in filter(None, lines):
        _say(console, line)


def _grade(
    work: Work, book: journal.Journal, lane: grading.Lane, lost: grading.Lost, lanes: Lanes, console: Console
) -> int:
    """Grade and keep each different content; return how many came to their end."""
    keep = partial(grading.keep, book, lost, work.again)
    return grading.grade_all(work.distinct, lane, lost, keep, lanes, _progress(console, len(work.distinct)))


def _shared_again(roll: Roll, regrade: Names[str], again: frozenset[Key]) -> Iterator[str]:
    """Say who else gets a new grade, because the same content was graded again for another student."""
    for lesson, content in sorted(again):
        have = [one for one in (report.submission for report in roll.reports) if grading.key(one) == (lesson, content)]
        others = [one.student for one in have if one.student not in regrade]
        if others:
            asked = ", ".join(one.student for one in have if one.student in regrade) or ", ".join(sorted(regrade))
            yield (
                f"{lesson} was graded again for {asked}; {', '.join(others)} handed in the same content and "
                f"{'has' if len(others) == 1 else 'have'} the new grade, too."
            )


def _require_students(named: Names[str], found: Collection, folder: Path) -> None:
    """Raise `UsageError` for one who is not in the class."""
    if unknown := sorted(set(named) - set(found.students)):
        near = ", ".join(difflib.get_close_matches(unknown[0], found.students)) or ", ".join(found.students[:5])
        raise UsageError(f"There is no student {unknown[0]!r} in {folder} to grade again; there are {near}.")


def _opening(folder: Path, found: Collection, work: Work, tasks: Sequence[TaskPoints], kit: str) -> Iterator[str]:
    n_all, needed = len(work.counting), len(work.needed)
    of_lesson = Counter(task.lesson for task in tasks)
    n_tasks = sum(of_lesson[submission.lesson] for submission in work.counting)
    counted = (units.some(len(found.students), "student"), units.some(n_all, "hand-in"), units.some(n_tasks, "task"))
    yield f"{folder.resolve().name}: {', '.join(counted)} · kit {kit}"
    if found.left_out and needed:
        yield f"{units.some(len(found.left_out), 'file')} left out, each named in {reports.PAGE}"
    if 0 < needed < n_all:
        yield f"{units.count(n_all - needed)} are graded already; going on with {units.count(needed)}."
    if len(work.distinct) < needed:
        yield (
            f"{units.count(needed)} hand-ins have {units.count(len(work.distinct))} different contents: "
            "equal content is graded once."
        )


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[Report], None]]:
    """Give a function to call with each report: it moves a bar on a terminal, else prints a few lines."""
    began_s = wall()
    watched = console.is_terminal
    seen: Counter[str] = Counter()
    with Progress(BarColumn(), TextColumn("{task.description}"), console=console, disable=not watched) as bar:
        task = bar.add_task(f"0/{units.count(total)}  grading the first", total=total)

        def tell(report: Report) -> None:
            seen["all"] += 1
            seen["edges"] += any(verdict.status is Status.UNDECIDED for verdict in report.verdicts)
            seen["faults"] += is_faulted(report)
            line = pace(seen["all"], total, wall() - began_s, edges=seen["edges"], faults=seen["faults"])
            bar.update(task, completed=seen["all"], description=line)
            if not watched and seen["all"] * _LINES // total > (seen["all"] - 1) * _LINES // total:
                _say(console, line)

        yield tell


def pace(done: int, total: int, elapsed_s: float, *, edges: int, faults: int) -> str:
    """Return the progress in words: how many, how fast, how long still, and what came up."""
    each_s = elapsed_s / done
    parts = [
        f"{units.count(done)}/{units.count(total)}",
        f"{units.number(60 / each_s, 2)} a minute" if each_s > 0 else "",
        f"{units.seconds(math.ceil(each_s * (total - done)))} left" if done < total else "",
        f"{units.count(edges)} at a tier's edge",
        units.some(faults, "fault"),
    ]
    return "  ".join(part for part in parts if part)


def _say(console: Console, line: str) -> None:
    """Print a line as it stands, whatever a folder's name holds."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    console.print(shown, markup=False, highlight=False, soft_wrap=True)

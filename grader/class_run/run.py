"""The class run: collect → grade what has no grade yet → journal → reports; and go on where it stopped.

How one submission is graded is passed in, and in which lanes. What that raises, or a lane that was lost, is a fault of
ours: the submission gets a verdict of GRADER_ERROR, which costs its student nothing, the class goes on, and the next
run tries it again.
"""

import difflib
import io
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from grader import reports
from grader.class_run import grading, hand_in, journal
from grader.class_run.course import Course
from grader.class_run.executors import Lanes
from grader.class_run.hand_in import Grade
from grader.class_run.roll import Roll, TaskPoints, is_faulted
from grader.class_run.standing import may_count
from grader.hand_ins.collect import Collection, collect
from grader.records import Report, Status
from grader.reports import pseudonyms, words
from harness import units
from harness.clocks import wall
from harness.errors import UsageError

EXIT_DONE, EXIT_FAULTS, EXIT_INTERRUPTED = 0, 3, 130
"""Every submission has its verdict · a fault of ours left some, or a report, without · Ctrl-C, as shells count it."""

_CONTROL = ("same", "slowed", "planted")
_LINES = 10  # how often a run tells its progress where nobody watches a bar


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended. `roll` is the whole class, `graded` how many hand-ins this run added to it.

    `strangers` are named in the course's policy and not in the class, `board` says that a leaderboard was written too.
    `unmade` is what to say of reports that the grader failed to make.
    """

    roll: Roll
    out: Path
    graded: int
    duration_s: float
    interrupted: bool
    strangers: tuple[str, ...] = ()
    board: bool = False
    unmade: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """Hand-ins that have no verdict because of a fault of ours."""
        return sum(is_faulted(report) for report in self.roll.reports)

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return EXIT_FAULTS if self.faults or self.roll.waiting or self.unmade else EXIT_DONE

    def lines(self) -> tuple[str, ...]:
        """Return what the instructor reads at the end."""
        n_all = len(self.roll.reports) + len(self.roll.waiting)
        if self.interrupted:
            kept = f"{units.count(len(self.roll.reports))} of {units.count(n_all)} hand-ins have their grades"
            end = f"Stopped: {kept}, and nothing is lost. Run the same command again to go on."
        elif not self.graded:
            end = f"Nothing to do: all {units.count(n_all)} hand-ins were graded before."
        else:
            end = f"Done in {units.seconds(self.duration_s)}."
        said = [end, self._median(), self._look_at()]
        of_student = (f"<student>/{reports.PAGE}", f"<student>/{reports.RESULTS}")
        of_class = (reports.PAGE, reports.GRADEBOOK, *([reports.BOARD] if self.board else []))
        files = (*of_class, *of_student, journal.FILE)
        written = "   " + "   ".join(str(self.out / name) for name in files)
        fault = f"{units.some(self.faults, 'hand-in')} met a fault of ours: run the same command again to retry."
        told = [" ".join(part for part in said if part), _control(self.roll) if self.graded else ""]
        names = f"Not in this class, though the course names them: {', '.join(self.strangers)}."
        told += [fault] if self.faults else []
        return (*filter(None, told), *self.unmade, *([names] if self.strangers else []), written)

    def _median(self) -> str:
        earned = [
            sum(points or 0.0 for points in of_student.values())
            for of_student in self.roll.grades().values()
            if of_student
        ]
        if not earned:
            return ""
        possible = sum(self.roll.possible(lesson) for lesson in self.roll.lessons)
        return f"Points: median {words.points(statistics.median(earned))} of {words.points(possible)}."

    def _look_at(self) -> str:
        ends = [verdict.status for report in self.roll.reports for verdict in report.verdicts]
        found = {
            "refused": sum(report.submission.refused for report in self.roll.reports),
            "that broke the rules": ends.count(Status.CHEATED),
            "undecided": ends.count(Status.UNDECIDED),
            "without a verdict": self.faults + len(self.roll.waiting),
        }
        listed = ", ".join(f"{units.count(number)} {what}" for what, number in found.items() if number)
        return f"Look at: {listed}." if listed else "Nothing needs a look."


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
    regrade: Names[str] = (),
    quiet: bool = False,
    board: str = "",
) -> Summary:
    """Grade the class in `folder` into `out` and write all reports. `grade` runs in `lanes`, which end with the run.

    `tasks` are those of the lessons to grade. `console` (standard error) shows progress unless `quiet`, `about` is a
    line on how this machine grades, `sandboxed` stamps the hand-ins on which `grade` failed. `course` is the policy, by
    default that of the run before; the students in `regrade` are graded though nothing of theirs changed; `board` asks
    for a leaderboard under these names (`reports.of_journal`). Raises `UsageError` before it has touched anything, and
    `WriteError` when what was graded cannot be kept.
    """
    began_s = wall()
    tasks = tuple(dict.fromkeys(tasks))
    policy = course or journal.course_of(out)
    found = collect(folder, sorted({task.lesson for task in tasks}), kit=kit, zone=policy.zone)
    _require_students(regrade, found, folder)
    if board:
        pseudonyms.chosen(board, "", found.students)  # names that cannot be had are refused now, not after hours
    with journal.claim(out, folder, kit=kit) as book:
        seed = book.secret_seed(seed_file)
        if course:
            book.set_course(course.text)
        book.enrol(found, tasks)
        counting = replace(found, submissions=tuple(may_count(found.submissions, policy)))
        pending = [one for one in counting.submissions if one.student in regrade or not book.has(one)]
        console = Console(file=io.StringIO()) if quiet else console
        for line in (*_opening(folder, counting, tasks, len(pending), kit), about if pending else ""):
            if line:
                _say(console, line)

        lane = partial(hand_in.graded, seed=seed, grade=grade, tasks=tasks, sandboxed=sandboxed)
        lost = partial(hand_in.lost, tasks=tasks, sandboxed=sandboxed)
        keep = partial(grading.keep, book, lost, regrade)
        kept = grading.grade_all(pending, lane, lost, keep, lanes, _progress(console, len(pending)))
        roll, files = reports.of_journal(book, board)
    return Summary(
        roll,
        out,
        kept,
        wall() - began_s,
        interrupted=kept < len(pending),
        strangers=policy.strangers(roll.students),
        board=bool(board),
        unmade=files.lines(out),
    )


def _require_students(named: Names[str], found: Collection, folder: Path) -> None:
    """Raise `UsageError` for one who is not in the class."""
    if unknown := sorted(set(named) - set(found.students)):
        near = ", ".join(difflib.get_close_matches(unknown[0], found.students)) or ", ".join(found.students[:5])
        raise UsageError(f"There is no student {unknown[0]!r} in {folder} to grade again; there are {near}.")


def _opening(folder: Path, found: Collection, tasks: Sequence[TaskPoints], pending: int, kit: str) -> Iterator[str]:
    n_all = len(found.submissions)
    of_lesson = Counter(task.lesson for task in tasks)
    n_tasks = sum(of_lesson[submission.lesson] for submission in found.submissions)
    counted = (units.some(len(found.students), "student"), units.some(n_all, "hand-in"), units.some(n_tasks, "task"))
    yield f"{folder.resolve().name}: {', '.join(counted)} · kit {kit}"
    if found.notes and pending:
        yield f"{units.some(len(found.notes), 'note')} on what was left aside, in {reports.PAGE}"
    if 0 < pending < n_all:
        yield f"{units.count(n_all - pending)} are graded already; going on with {units.count(pending)}."


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[Report], None]]:
    """Give a function to call with each report: it moves a bar on a terminal, else prints a few lines."""
    began_s = wall()
    watched = console.is_terminal
    seen: Counter[str] = Counter()
    with Progress(BarColumn(), TextColumn("{task.description}"), console=console, disable=not watched) as bar:
        task = bar.add_task("", total=total)

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


def _control(roll: Roll) -> str:
    """How the controls of all duels came out, which says how far to trust this machine."""
    controls = [one.attempt.control for report in roll.reports for one in report.verdicts if one.attempt.control]
    if not controls:
        return ""
    same, slowed, planted = (statistics.median(getattr(c, name) for c in controls) for name in _CONTROL)
    measured = f"{units.ratio(same, 4)}, {units.ratio(slowed, 4)} for {units.ratio(1 + planted, 4)}"
    voided = sum(control.voided for control in controls)
    again = f"; {units.some(voided, 'duel')} void and fought again" if voided else ""
    return f"Control: the baseline against itself {measured}{again}."


def _say(console: Console, line: str) -> None:
    """Print a line as it stands, whatever a folder's name holds."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    console.print(shown, markup=False, highlight=False, soft_wrap=True)

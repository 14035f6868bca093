"""Grade a class: collect the submissions, grade those without a grade, store the grades, and write the reports."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from grader import reports
from grader.class_run import database, grading, journal
from grader.class_run.graded_on import HandIns, changes
from grader.class_run.grading import Grade, HandInGrader, Key, key
from grader.class_run.standing import StudentLesson
from grader.class_run.summary import Summary, publish
from grader.course.course_file import Course
from grader.course.named_students import for_class
from grader.course.results import HandIn, TaskPoints
from grader.course.roster import Roster, student_named
from grader.hand_ins.collect import Collection
from grader.records import Report, Status, Submission
from harness.machine.clocks import wall
from harness.rendering import units
from harness.rendering.texts import shown

_EACH_S = 60.0  # the seconds between two progress lines in a run without a terminal


@dataclass(frozen=True, slots=True)
class Work:
    """The submissions that may count (`counting`), and those of them that must be graded now (`needed`).

    `distinct` has one of `needed` for each content. Contents in `again` are graded even if they have a grade.
    """

    counting: tuple[Submission, ...]
    needed: tuple[Submission, ...]
    distinct: tuple[Submission, ...]
    again: frozenset[Key]

    @classmethod
    def of(cls, submissions: Sequence[Submission], stands: Sequence[StudentLesson], regrade: Names[str]) -> "Work":
        """Return which submissions must be graded, also those of the students in `regrade` that have a grade."""
        may = {_identity(row.hand_in) for one in stands for row in one.may_count}
        lacks = {_identity(hand_in) for one in stands for hand_in in one.needed}
        asked = {_identity(row.hand_in) for one in stands if one.student in regrade for row in one.may_count}
        counting = tuple(one for one in submissions if _identity(one) in may)
        needed = tuple(one for one in counting if _identity(one) in asked | lacks)
        distinct = {key(one): one for one in reversed(needed)}
        again = frozenset(key(one) for one in counting if _identity(one) in asked)
        return cls(counting, needed, tuple(reversed(distinct.values())), again)


def _identity(one: Submission | HandIn) -> tuple[str, str, str]:
    return one.sender if isinstance(one, HandIn) else one.student, one.lesson, one.content


def grade_class(
    folder: Path,
    out: Path,
    *,
    grade: Grade,
    tasks: Sequence[TaskPoints],
    executor: Executor,
    console: Console,
    kit: str,
    sandboxed: bool = True,
    seed_file: Path | None = None,
    about: str = "",
    course: Course | None = None,
    course_name: str = "",
    regrade: Names[str] = (),
    board: str = "",
    known: Mapping[str, Names[str]] | Sequence[str] = (),
    command: str = "",
    roster: Roster | None = None,
) -> Summary:
    """Grade the submissions in `folder`, store the grades in the folder `out`, and write all reports.

    `grade` grades one submission and is called by the `executor`, which ends with the run. `tasks` are the tasks
    to grade, and `known` further lessons, each with its functions. The `console` shows the progress, and the line
    `about` on the machine. `sandboxed` is stored with submissions on which `grade` failed. `course` has the rules from
    the file `course_name`, by default the rules of the last run. Submissions of the students in `regrade` are graded
    again. `board` states which names the leaderboard shows. With "", no leaderboard is written. `command` is the
    command as it was typed. `roster` has the students of the course, by default those of the last run. Raise
    `UsageError` before anything is changed, and `WriteError` if grades cannot be stored.
    """
    began_s = wall()
    tasks, before = tuple(dict.fromkeys(tasks)), journal.remembered(out)
    policy, roster = course or before.course, before.roster if roster is None else roster
    lessons = sorted({task.lesson for task in (*tasks, *before.tasks)})  # so that no other exercise seems misnamed
    found = HandIns(policy, roster, known, kit).of(folder, lessons)
    everyone = sorted({*found.students, *before.students_by(roster)})
    rules = for_class(policy, everyone, roster, course_name or f"The course kept in {out}")
    there = {*found.students, *(one for team in rules.teams.values() for one in team.students)}
    regrade = [student_named(one, sorted(there), roster) for one in regrade]
    listed = (*policy.students, *roster.students)
    with journal.claim(out, folder, kit=kit, students=found.students, listed=listed) as book:
        seed = book.secret_seed(seed_file)
        book.set(board=board, course=course, command=command, roster=roster)
        left = book.enrol(found, tasks)
        of_run = tuple(one for one in found.submissions if one.lesson in {task.lesson for task in tasks})
        work = Work.of(of_run, book.student_lessons(), regrade)
        if todo := work.distinct:
            book.keep_command(command)
        for line in (*_opening(folder, found, work, tasks, kit), *([about] if about and todo else [])):
            _say(console, line)
        grader = HandInGrader(grade, seed, tasks, sandboxed)
        kept = grading.grade_all(todo, grader, book, work.again, executor, _progress(console, len(todo)))
        roll, files = publish(book)
    told = (*left, *database.readers(out), *changes(before.tasks, roll.tasks, out))
    about_run = {"interrupted": kept < len(todo), "board": bool(board)}
    read_as = f"{folder} was read as {found.layout}."
    return Summary(roll, out, kept, wall() - began_s, **about_run, unmade=files.lines(), told=told, read_as=read_as)


def _opening(folder: Path, found: Collection, work: Work, tasks: Sequence[TaskPoints], kit: str) -> Iterator[str]:
    n_all, needed = len(work.counting), len(work.needed)
    of_lesson = Counter(task.lesson for task in tasks)
    n_tasks = sum(of_lesson[submission.lesson] for submission in work.counting)
    counted = (units.some(len(found.students), "student"), units.some(n_all, "hand-in"), units.some(n_tasks, "task"))
    yield f"{folder.resolve().name}, read as {found.layout}: {', '.join(counted)} · kit {kit}"
    if found.left_out and needed:
        yield f"{units.some(len(found.left_out), 'file')} not graded, with reasons in {reports.PAGE}"
    if 0 < needed < n_all:
        graded, rest = units.some(n_all - needed, "hand-in"), units.some(needed, "hand-in")
        yield f"Already graded: {graded}. This run grades {rest}."
    if len(work.distinct) < needed:
        contents = f"{units.count(needed)} hand-ins have {units.count(len(work.distinct))} different contents"
        yield f"{contents}: hand-ins with equal content are graded once."


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[Report], None]]:
    began_s = told_s = wall()
    watched, seen = console.is_terminal, dict[Key, bool]()
    with Progress(BarColumn(), TextColumn("{task.description}"), console=console, disable=not watched) as bar:
        task = bar.add_task(f"0/{units.count(total)}  grading the first hand-ins", total=total)

        def tell(report: Report) -> None:
            nonlocal told_s
            is_repeated = key(report.submission) in seen
            seen[key(report.submission)] = any(one.status is Status.GRADER_ERROR for one in report.verdicts)
            left_s = math.ceil((wall() - began_s) / len(seen) * (total - len(seen)))
            rest = "  repeating measurements that were too noisy" if is_repeated else f"  {units.seconds(left_s)} left"
            failed = f"  {units.some(sum(seen.values()), 'internal error')}" if any(seen.values()) else ""
            line = f"{units.count(len(seen))}/{units.count(total)}{rest if is_repeated or left_s else ''}{failed}"
            bar.update(task, completed=len(seen), description=line)
            if not watched and (wall() - told_s >= _EACH_S or (len(seen) == total and not is_repeated)):
                told_s = wall()
                _say(console, line)

        yield tell


def _say(console: Console, line: str) -> None:
    with suppress(OSError):  # a terminal that is gone must not end a run of hours
        console.print(shown(line, lines=False), markup=False, emoji=False, highlight=False, soft_wrap=True)

"""List what `run` would grade: who handed in what, from where, when it counts, and what is left aside."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size

from grader.class_run.graded_on import HandIns
from grader.class_run.standing import student_lessons
from grader.class_run.stored_attempts import StoredAttempt
from grader.course.dates import LocalTime
from grader.course.named_students import for_class
from grader.course.results import HandIn, SetAside, TaskPoints
from grader.course.roster import unclear
from grader.errors import UsageError
from grader.hand_ins.collect import Collection
from grader.records import LeftOut, TimeSource
from harness.rendering import units
from harness.rendering.texts import shown

_WIDEST: Final = 40
_NAMED: Final = 3
_SOURCES: Final = {
    TimeSource.PLATFORM: "platform",
    TimeSource.FOLDER: "folder's name",
    TimeSource.FILE: "file's own time",
    TimeSource.LATE_MARK: "late, at an unknown time",
    TimeSource.UNKNOWN: "unknown time, counts as on time",
}


def lines(folder: Path, tasks: Sequence[TaskPoints], of: HandIns, course_name: str = "") -> Iterator[str]:
    """Yield the lines of a dry run, without control characters: the counts, then a table of hand-ins, then the rest.

    The last line is an error of the course file `course_name` that would stop a run.
    """
    found = of.of(folder, sorted({task.lesson for task in tasks}), require=False)
    n_lessons = len({one.lesson for one in found.submissions})
    expected = (*of.course.students, *of.roster.students)
    missing = [one for one in dict.fromkeys(expected) if one not in found.students]
    questions = unclear(of.roster, chain.from_iterable(found.senders.values()), found.students)
    handed_in = {one.student for one in found.submissions}
    without = [one for one in found.students if one not in handed_in]
    yield shown(f"{folder} was read as {found.layout or 'an empty folder'}.", lines=False)
    counts = (
        units.some(len(found.students), "student"),
        f"{units.some(len(found.submissions), 'attempt')} at {units.some(n_lessons, 'lesson')}",
        f"{units.some(sum(bool(one.refusal) for one in found.submissions), 'attempt')} refused",
        f"{units.some(len(without), 'student')} without an exercise",
        f"{units.some(len(found.left_out), 'file')} left aside",
        f"{len(missing)} missing",
        f"{len(questions)} unclear",
    )
    yield f"{', '.join(counts)}. Nothing was graded or written."
    columns = ("Student", "Lesson", "Handed in", "Source of the time", "File")
    yield from _section("Hand-ins", columns, [*_rows(found, of)])
    yield from _section("Left aside", ("Student", "File", "Reason"), _left_out(found.left_out))
    yield from _section("Unclear students", ("Student", "Problem", "Reason"), questions)
    yield from _section("Missing students, of whom nothing was found", ("Student",), [[one] for one in missing])
    yield from _section("Notes", ("Note",), [[note] for note in found.notes])
    try:
        for_class(of.course, found.students, of.roster, course_name)
    except UsageError as error:
        yield f"\n{shown(str(error))}"


def _rows(found: Collection, of: HandIns) -> Iterator[Sequence[str]]:
    aside = {(one.student, one.path): f" (does not count: {one.why})" for one in _set_aside(found, of)}
    for one in found.submissions:
        when = str(LocalTime.at_utc(one.handed_in, of.course.zone)) if one.handed_in else "–"
        refused = f" (refused: {one.refusal})" if one.refusal else ""
        yield (
            one.student,
            one.lesson,
            when,
            _SOURCES[one.time_source],
            f"{one.path}{refused}{aside.get((one.student, one.path), '')}",
        )


def _set_aside(found: Collection, of: HandIns) -> Iterator[SetAside]:
    rows = (
        StoredAttempt(
            at=one.handed_in,
            points=None,
            refused=one.refused,
            grading=None,
            time_source=one.time_source,
            hand_in=HandIn(one.student, one.lesson, one.path, one.sha256, one.content, at=one.handed_in),
        )
        for one in found.submissions
    )
    course = for_class(of.course, found.students, of.roster)
    return (aside for one in student_lessons([*rows], course) for aside in one.set_aside)


def _left_out(files: Sequence[LeftOut]) -> list[Sequence[str]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for file in files:
        line = file.accepting_line
        accept = f" To grade it, add {line} under [files] in course.toml." if line else ""
        of_student = groups.setdefault((file.student or "(no student)", f"{file.why}{accept}"), [])
        of_student.append(file.path.removeprefix(f"{file.student}/"))
    return [(who, units.few(names, _NAMED), why) for (who, why), names in sorted(groups.items())]


def _section(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    table = [[shown(cell, lines=False) for cell in row] for row in (headings, *rows)]
    widths = [min(_WIDEST, max(map(cell_len, column))) for column in zip(*table, strict=True)]
    yield ""
    yield f"{title} ({len(rows):,})"
    for row in table if len(headings) > 1 else table[1:]:
        cells = [set_cell_size(cell, max(width, cell_len(cell))) for cell, width in zip(row, widths, strict=True)]
        yield f"  {'  '.join(cells)}".rstrip()

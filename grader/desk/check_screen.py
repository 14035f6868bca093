"""The screen of the command `check`: the lines that show a report, the score first. Nothing is read or printed here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Final

from grader import catalogue
from grader.records import UNGRADED, Report, Status, Verdict
from grader.reports import grade_texts
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import EARNS
from grader.ways import ways_of
from harness.rendering import measured
from harness.rendering.texts import shown
from harness.rendering.wrapping import wrapped

ROWS, COLUMNS = 24, 80
"""The rows and columns of the smallest terminal. A report of one lesson fits in it, below the typed command."""

INDENT: Final = 3
MOST_PRINTED: Final = 5
"""The maximum number of lines that are shown of what a submission printed. The last lines are shown."""

MOST_NOTES: Final = 4
"""The number of rows that are kept free for notes on a file, such as the exceptions of a notebook's cells."""

SIMILAR: Final = 1.1
"""A ratio that rose or fell by less than this factor is not a change: two measurements of one function differ, too."""

SAME: Final = "The reason is the same."
VERBOSE: Final = "--verbose"
NO_SANDBOX: Final = (
    "This machine has no sandbox, so check cannot notice if your code uses other files, the network or other programs. "
    "When your class is graded, it cannot use them."
)
OTHER_WAYS: Final = "To see how the reference solution works, and other ways, add --verbose."
NEXT: Final = {
    Status.RAISED: "Correct the error in the last line of your code that is shown below.",
    Status.WRONG: "Call your function on the case that is shown below, and find the first step that is wrong.",
}
"""The next step if a result comes without advice."""

COLOURS: Final = {Status.PASSED: "green", Status.UNDECIDED: "green", **dict.fromkeys(UNGRADED, "red")}


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """A line of the screen, which may be wrapped: its text, its indent in columns, and its colour as rich names it."""

    text: str
    indent: int = INDENT
    colour: str = ""


def screen(
    report: Report,
    hints: Mapping[str, Sequence[str]],
    *,
    notes: Sequence[str] = (),
    verbose: bool = False,
    before: Mapping[str, Verdict] | None = None,
    to_see_more: str = VERBOSE,
) -> list[ScreenLine]:
    """Return the lines for the report of one lesson: its points, then each task with its next step and its details.

    `hints` has the lines on hints by the task's full name. `notes` are sentences on the file. With `verbose`, nothing
    is left out, and ways to solve a task follow full marks. Else the lines fill at most `ROWS` rows. `before` has the
    verdicts of the last check: a task whose result is the same now is left out. `to_see_more` is what a student types
    to see what is left out.
    """
    warned = [ScreenLine(NO_SANDBOX, 1)] if before is None and not report.sandboxed else []
    before = before or {}
    graded = [pair for pair in tasks_with_verdicts(report) if not _is_same(before.get(pair[1].task), pair[1])]
    if not graded:
        return [ScreenLine(f"Nothing changed: {out_of(report.points, report.max_points)} points", 1)]
    heads = [_heading(task, verdict, before.get(verdict.task)) for task, verdict in graded]
    messages = _messages([verdict for _, verdict in graded], PurePath(report.submission.path).name)
    blocks = [
        _block(task, verdict, message, hints.get(verdict.task, ()), verbose=verbose)
        for (task, verdict), message in zip(graded, messages, strict=True)
    ]
    is_full = any(verdict.points == verdict.max_points for _, verdict in graded)
    more = [OTHER_WAYS] if is_full and not verbose and to_see_more == VERBOSE else []
    notes = [shown(note) for note in (*notes, *report.remarks, *report.notes)]
    if verbose:
        bodies = [block.lines() for block in blocks]
    else:
        reserved = min(_height(notes, 1), MOST_NOTES)
        above = (*warned, *total([report]), *heads, *map(ScreenLine, more))
        room = ROWS - 2 - reserved - sum(_height([line.text], 1) for line in above)
        bodies = _shared(blocks, room, to_see_more)
        notes = fitted(notes, reserved + room - sum(map(_height, bodies)), to_see_more, 1)
    tasks = [[head, *map(ScreenLine, body)] for head, body in zip(heads, bodies, strict=True)]
    return [*warned, *total([report]), *chain(*tasks), *(ScreenLine(text, 1) for text in (*more, *notes))]


@dataclass(frozen=True, slots=True)
class _Block:
    """What stands below the result of a task: the next step, hints, details, and what the submission printed."""

    steps: Sequence[str] = ()
    hints: Sequence[str] = ()
    details: Sequence[str] = ()
    printed: Sequence[str] = ()

    def lines(self, most: int | None = None, more: str = "") -> list[str]:
        """Return the lines of all parts. With `most`, the parts are shortened, so that they fill this many rows."""
        steps, hints, details, printed = self.steps, self.hints, self.details, self.printed
        if most is not None:
            steps = fitted(steps, most // 3, more)
            hints = fitted(hints, most - _height(steps) - 2, more)
            left = most - _height(steps) - _height(hints)
            printed = fitted(printed, min(MOST_PRINTED + 2, max(left - _height(details), left // 3)), more, head=1)
            details = fitted(details, left - _height(printed), more)
        return [*steps, *hints, *details, *printed]


def _shared(blocks: Sequence[_Block], room: int, more: str) -> list[list[str]]:
    lines = [list[str]() for _ in blocks]
    by_height = sorted(range(len(blocks)), key=lambda at: _height(blocks[at].lines()))
    for number, at in enumerate(by_height):
        lines[at] = blocks[at].lines(room // (len(blocks) - number), more)
        room -= _height(lines[at])
    return lines


def fitted(lines: Sequence[str], most: int, more: str, indent: int = INDENT, head: int | None = None) -> list[str]:
    """Return lines that fill at most `most` rows of the smallest terminal. `more` is what shows all rows.

    From too many rows, the ones in the middle are left out: `head` rows are kept before them, by default half of all.
    """
    if _height(lines, indent) <= most:
        return list(lines)
    rows = [row for line in lines for row in wrapped(line, COLUMNS - indent)]
    first = max(most // 2 if head is None else min(head, most - 1), 0)
    last = max(most - first - 1, 0)
    return [*rows[:first], f"… {len(rows) - first - last} more rows: {more} shows them", *rows[len(rows) - last :]]


def _height(lines: Sequence[str], indent: int = INDENT) -> int:
    return sum(1 for line in lines for _ in wrapped(line, COLUMNS, indent))


def overview(report: Report) -> list[ScreenLine]:
    """Return one line for each task and remark of a lesson, for a student who checks several lessons at once."""
    headings = [_heading(task, verdict) for task, verdict in tasks_with_verdicts(report)]
    return [*headings, *map(ScreenLine, map(shown, report.remarks))]


def total(reports: Sequence[Report]) -> list[ScreenLine]:
    """Return a line with the sum of the points of several tasks, or nothing for a single task."""
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    if len(verdicts) < 2:
        return []
    earned = out_of(sum(verdict.points for verdict in verdicts), sum(verdict.max_points for verdict in verdicts))
    return [ScreenLine(f"Total: {earned} points in {len(verdicts)} tasks", 1)]


def out_of(points: float, possible: float) -> str:
    """Return earned and possible points, such as "6 / 10"."""
    return f"{grade_texts.points(points)} / {grade_texts.points(possible)}"


def task_state(task: Task, verdict: Verdict) -> str:
    """Return the result of a task in a few words, such as "right, tier 2 of 3"."""
    speed = verdict.attempt.speed
    if verdict.status in EARNS and speed and task.tiers:
        ratio = measured.ratio(speed.ratio, speed.low, speed.high)
        return f"right, tier {speed.tier} of {len(task.tiers)}, ratio {ratio}"
    return grade_texts.ended(verdict)


def tasks_with_verdicts(report: Report) -> Iterator[tuple[Task, Verdict]]:
    """Yield each graded task of a report with its verdict."""
    by_name = {task.full_name: task for task in catalogue.load().tasks(report.submission.lesson)}
    yield from ((by_name[verdict.task], verdict) for verdict in report.verdicts)


def _is_same(before: Verdict | None, now: Verdict) -> bool:
    """Return whether a task ended as before: equal points, a similar ratio, and the same first sentence.

    Numbers in a sentence are ignored, because hidden inputs are new in each check, and an edit moves lines.
    """
    if before is None or _key(before) != _key(now):
        return False
    old, new = before.attempt.speed, now.attempt.speed
    return not (old and new) or old.low / SIMILAR < new.ratio < old.high * SIMILAR


def _key(verdict: Verdict) -> tuple[object, ...]:
    attempt, earns = verdict.attempt, verdict.status in EARNS
    sentence = "" if earns else re.split(r"\. |\n", attempt.rationale, maxsplit=1)[0]
    return earns or verdict.status, verdict.points, re.sub(r"[\d.]+", "", f"{sentence} {attempt.help}")


def _heading(task: Task, verdict: Verdict, before: Verdict | None = None) -> ScreenLine:
    earned = out_of(verdict.points, verdict.max_points)
    if before and before.points != verdict.points:
        earned += f" (before: {grade_texts.points(before.points)})"
    text = f"{earned}  {task.lesson} · {task.name}: {task_state(task, verdict)}"
    return ScreenLine(text, 1, COLOURS.get(verdict.status, "yellow"))


def _messages(verdicts: Sequence[Verdict], file: str) -> Iterator[str]:
    above = ""
    for said in (verdict.attempt.rationale for verdict in verdicts):
        named = re.sub(r"(?<=line )(\d+ of) the file", lambda found: f"{found[1]} {file}", said)
        yield SAME if said and said == above else named
        above = said


def _block(task: Task, verdict: Verdict, message: str, hints: Sequence[str], *, verbose: bool) -> _Block:
    attempt, details = verdict.attempt, message.splitlines()
    if verdict.points == verdict.max_points:
        idea = f"How the reference solution works: {task.idea}"
        ways = [*details, idea, *ways_of(task).lines(), f"More to read: {task.references}"]
        return _Block(details=ways if verbose else ())
    if verdict.status in EARNS:
        return _Block(details, hints)
    if message == SAME:
        return _Block((), hints, details)
    advice = f"Read {task.read}, then write it." if attempt.help == NOT_WRITTEN else attempt.help
    advice = advice or NEXT.get(verdict.status, "")
    printed = [f"  {line}" for line in shown(attempt.output_tail).strip().split("\n")]
    output = ["Your code printed:", *printed[0 if verbose else -MOST_PRINTED :]] if any(map(str.strip, printed)) else ()
    return _Block([f"→ {advice}"] if advice else (), hints, details, output)

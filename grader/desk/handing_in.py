"""Handing in at the desk: which files go into the zip, what they are worth here, and what is not in it."""

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from grader import catalogue
from grader import check as checking
from grader.desk import works
from grader.desk.works import Choice, Work
from grader.errors import FairclockError, UsageError
from grader.hand_ins.collect import submission_of
from grader.hand_ins.notebooks import by_cell
from grader.isolation.pool import Pool
from grader.records import Report, Status
from grader.reports import words
from grader.submit import submit

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Packed:
    """A zip that was written, and the choices it was made by. `missing` are lessons without any file."""

    out: Path
    replaced: bool
    files: tuple[Work, ...]
    choices: tuple[Choice, ...]
    missing: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """1 when a file could not be taken, else 0."""
        return 1 if any(work.refusal for choice in self.choices for work, _ in choice.left_out) else 0

    def lines(self) -> Iterator[str]:
        """Yield what was written."""
        again = " in place of the older one" if self.replaced else ""
        count = f"{len(self.files)} exercise{'' if len(self.files) == 1 else 's'}"
        yield f"Wrote {self.out}{again}: {count}. Hand in this one file."

    def warnings(self) -> Iterator[str]:
        """Yield what the student should look at before handing in."""
        found = [left_out(work, why) for choice in self.choices for work, why in choice.left_out]
        if self.missing:
            found.append(f"No file was found for {', '.join(self.missing)}.")
        if found:
            yield ""
            yield "Look at this before you hand it in:"
            yield from (f"  {line}" for line in found)


def choices(places: Sequence[Path], take: Sequence[Path]) -> list[Choice]:
    """Return a choice for each lesson of which a file lies in `places`, by default wherever exercises lie.

    A file of `take` counts without a question. Changed files elsewhere are left out, and named. Raises `UsageError` for
    a place that is not there and for a file that is not an exercise.
    """
    lessons = catalogue.load().lessons
    named = {work.lesson: work for work in map(_named, take)}
    everywhere = works.found(works.places(), lessons)
    inside = _inside(places, lessons) if places else everywhere
    if not any(inside.values()) and not named:
        raise UsageError(f"{places[0]} holds no exercise; one is named like {lessons[0]}.py.")
    made = []
    for lesson in lessons:
        choice = works.choose(lesson, inside[lesson])
        if work := named.get(lesson):
            choice = choice.take(work)
        made.append(_with_those_outside(choice, everywhere[lesson], inside[lesson]) if places else choice)
    return [choice for choice in made if choice.taken or choice.rivals or choice.left_out or not places]


def pack(made: Sequence[Choice], out: Path, *, kit: str, force: bool) -> Packed:
    """Write the zip of the files that count. Raises `UsageError` when there is none, with the reasons."""
    files = tuple(choice.taken for choice in made if choice.taken)
    if not files:
        raise UsageError(" ".join(untaken(choice) for choice in made if choice.left_out) or untaken(made[0]))
    replaced = submit({work.lesson: work.path for work in files}, out, kit=kit, force=force)
    gone = tuple(choice.lesson for choice in made if not choice.taken and not choice.left_out)
    return Packed(out, replaced, files, tuple(made), gone)


def show_points(packed: Packed, say: Say, status: Console, *, graded: bool) -> None:
    """Say what each file in the zip is worth here, grading those that the student has changed.

    Ctrl-C ends the grading with a line, and passes on: the zip is whole already.
    """
    changed = [work for work in packed.files if work.changed and not fault_of(work)]
    if graded and changed:
        say("The points are those that this machine sees. Ctrl-C ends the grading; the zip is whole already.")
    say("")
    with Pool(sandboxed=False) if graded and changed else contextlib.nullcontext() as pool:
        done = 0
        for work in packed.files:
            if pool is None or work not in changed:
                say(_row(work, fault_of(work) or ("" if work.changed else "not changed yet")))
                continue
            done += 1
            try:
                with status.status(f"Checking {work.path.name} ({done} of {len(changed)}) …"):
                    report = checking.check(work.lesson, work.path, pool)
            except FairclockError as error:
                say(_row(work, f"not graded here: {error}"))
                continue
            except KeyboardInterrupt:
                say(f"Stopped grading. {packed.out} holds all {len(packed.files)} files.")
                raise
            for line in _graded(work, report):
                say(line)


def fault_of(work: Work) -> str:
    """Return what keeps a file from being Python, with the line; "" for one that is."""
    source = submission_of(work.path, student="", lesson=work.lesson).source or ""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return by_cell(f"not Python: {error.msg} (line {error.lineno} of the file); it earns nothing", source)
    except (ValueError, RecursionError, MemoryError):
        return "Python cannot read it; it earns nothing"
    return ""


def untaken(choice: Choice) -> str:
    """Return why no file of an exercise counts."""
    reasons = [why for _, why in choice.left_out]
    return " ".join(reasons) or f"There is no file of {choice.lesson}; get lessons/exercises from the kit again."


def left_out(work: Work, why: str) -> str:
    """Return the line on a file that does not count."""
    return f"Left out: {work.path}. {why[:1].upper()}{why[1:].rstrip('.')}."


def _graded(work: Work, report: Report) -> Iterator[str]:
    if any(verdict.status is Status.GRADER_ERROR for verdict in report.verdicts):
        yield _row(work, f"not graded here: see python -m grader check {work.lesson}")
        return
    yield _row(work, "", points=words.points(report.points))
    for task, verdict in zip(catalogue.load().tasks(work.lesson), report.verdicts, strict=True):
        if verdict.points < verdict.max_points:
            earned = f"{words.points(verdict.points)} / {words.points(verdict.max_points)}"
            yield f"      {task.name}  {earned}  {checking.state(task, verdict)}"


def _row(work: Work, remark: str, points: str = "–") -> str:
    most = words.points(sum(task.points for task in catalogue.load().tasks(work.lesson)))
    return f"  {work.lesson:22} {points:>4} / {most:<4} {work.path}{f'  ({remark})' if remark else ''}"


def _inside(places: Sequence[Path], lessons: Sequence[str]) -> dict[str, list[Work]]:
    """Return the files of each lesson in the folders and among the files that were named; a named file counts."""
    for place in places:
        if not place.exists():
            what = "file" if place.suffix in works.SUFFIXES else "folder"
            raise UsageError(f"There is no {what} {place}; run this where the kit is, or name the exercises.")
    inside = works.found([place for place in places if place.is_dir()], lessons)
    for work in map(_named, (place for place in places if not place.is_dir())):
        inside[work.lesson].append(work)
    return inside


def _named(path: Path) -> Work:
    lesson = works.lesson_of(path)
    if not lesson:
        there_are = ", ".join(catalogue.load().lessons)
        raise UsageError(f"{path} is no exercise; there are: {there_are} (as .py or .ipynb).")
    work = works.work_at(path, lesson)
    if work.refusal:
        raise UsageError(work.refusal)
    return replace(work, named=True)


def _with_those_outside(choice: Choice, everywhere: Sequence[Work], inside: Sequence[Work]) -> Choice:
    """Return the choice with the changed files that lie outside of the places that were named."""
    known = {work.path.resolve() for work in inside}
    codes = {work.code for work in inside}
    outside = [
        (work, "it lies outside of what you named")
        for work in everywhere
        if work.changed and not work.refusal and work.path.resolve() not in known and work.code not in codes
    ]
    return replace(choice, left_out=(*choice.left_out, *outside))

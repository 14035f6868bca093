"""The command `practise`: show the next exercise, check its file at each save, and go on when the student says so.

Keys are read as whole lines, so that every terminal works, and also an input that is not a terminal.
"""

import os
import select
import signal
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn

from rich.console import Console

from grader import catalogue, paths
from grader.desk import check as checking
from grader.desk import check_screen, exercise_files, student_state
from grader.desk.exercise_files import ExerciseFile
from grader.desk.file_watch import LOOK_S, FileWatch
from grader.errors import FairclockError, UsageError
from grader.records import Report
from harness.command_line import INTERRUPTED
from harness.rendering.wrapping import say
from harness.storage.user_files import state_folder

STANDARD_INPUT: Final = 0
KEYS: Final = "Save to check. Or a key and Enter: h hint, v details, n next, q quit"
KEYS_AFTER_ALL: Final = "Or a key and Enter: v other ways, q quit"


def practise(lesson: str, console: Console) -> int:
    """Practise the exercises of the student's path, beginning with `lesson` or the first unfinished one.

    Return the exit code when the student quits or ends the input.
    """
    signal.signal(signal.SIGHUP, _hang_up)
    code, practice = 0, Practice(console, lesson or unfinished_after(""))
    try:
        while practice.lesson:
            practice.lesson = practice.exercise()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends now
        code = INTERRUPTED
        console.print()
    except Exception:
        practice.kit.follow(practice.lesson)
        raise
    points, path = student_state.points_by_lesson(), path_of_student()
    finished = sum(_is_full(points.get(each)) for each in path)
    say(console, f"You have full marks in {finished} of {len(path)} exercises of your path. Your points are kept.", 1)
    say(console, "To hand in: fairclock submit" if finished == len(path) else "To go on: fairclock practise", 1)
    return code


def path_of_student() -> list[str]:
    """Return the lessons of the path that the student chose with `fairclock lessons --path`, in order."""
    listed, chosen = tomllib.loads(paths.LESSONS.read_text(encoding="utf-8")), ""
    with suppress(OSError, ValueError):
        chosen = (state_folder() / "lesson_path.txt").read_text(encoding="utf-8").strip()
    known = [name for name in listed["lessons"] if name in catalogue.load().lessons]
    return [name for name in listed["short_path"] if chosen == "short" and name in known] or known


def unfinished_after(lesson: str) -> str:
    """Return the next exercise of the path without full marks, after `lesson` or else before it. Return "" if none."""
    path, points = path_of_student(), student_state.points_by_lesson()
    at = path.index(lesson) + 1 if lesson in path else 0
    others = [name for name in (*path[at:], *path[:at]) if name != lesson]
    return next((name for name in others if not _is_full(points.get(name))), "")


def _is_full(points: tuple[float, float] | None) -> bool:
    return points is not None and points[0] >= points[1]


class KitFolder:
    """The folder of the kit, which the student may move or rename while `practise` runs."""

    def __init__(self) -> None:
        self._opened = os.open(paths.KIT, os.O_RDONLY)

    def follow(self, lesson: str) -> None:
        """If the kit was moved, start `practise` again in its new place. If it was deleted, raise `UsageError`."""
        with suppress(OSError):
            if os.path.samestat(paths.KIT.stat(), os.fstat(self._opened)):
                return
        os.fchdir(self._opened)
        try:
            here = Path.cwd()
        except OSError:
            gone = f"{paths.KIT}, the folder of the kit, was deleted or replaced. Start practise again in the new one."
            raise UsageError(gone) from None
        print(f"\nThe folder of the kit is now {here}. practise goes on there.", flush=True)
        python = Path(sys.executable)
        python = here / python.relative_to(paths.KIT) if python.is_relative_to(paths.KIT) else python
        os.execv(python, [str(python), "-m", "grader", "practise", lesson])  # noqa: S606 - the same command, without a shell


@dataclass
class Practice:
    """A student who practises: the present exercise, the report of its last check, and what was typed."""

    console: Console
    lesson: str
    kit: KitFolder = field(default_factory=KitFolder)
    report: Report | None = None
    typed: bytes = b""

    def exercise(self) -> str:
        """Let the student solve the exercise. Return the next exercise, or "" when the student leaves."""
        self.report = None
        folders = (paths.EXERCISES, paths.KIT / "notebooks", Path.cwd())
        watch = FileWatch([*(file.path for file in self._files()), *folders])
        self._show()
        for event in self._events(watch):
            if isinstance(event, Path):
                self.console.rule(f"{datetime.now().astimezone():%H:%M:%S}", style="dim")
                self._check(event)
            elif event == "q":
                return ""
            elif event == "n" or (self._is_full and not event):
                return unfinished_after(self.lesson) or ("" if self._is_full else self.lesson)
            else:
                self._answer(event)
            self._print_keys()
        return ""

    @property
    def _is_full(self) -> bool:
        return self.report is not None and self.report.points == self.report.max_points

    def _files(self) -> list[ExerciseFile]:
        return exercise_files.find_files([self.lesson])[self.lesson]

    def _choice(self) -> tuple[ExerciseFile | None, str]:
        choice = exercise_files.choose(self.lesson, self._files())
        return choice.taken or next(iter(choice.candidates), None), choice.why_no_file

    def _show(self) -> None:
        path, points = path_of_student(), student_state.points_by_lesson().get(self.lesson)
        number = f"{path.index(self.lesson) + 1} of {len(path)}" if self.lesson in path else "outside your path"
        had = f" · {check_screen.out_of(*points)} points" if points else ""
        self.console.rule(style="dim")
        say(self.console, f"Exercise {number} · {self.lesson}{had}", 1)
        for task in catalogue.load().tasks(self.lesson):
            say(self.console, f"{task.name} ({task.points:g} points): {task.summary}", check_screen.INDENT)
        file, why_none = self._choice()
        say(
            self.console,
            f"File:   {file.path if file else why_none}\nLesson: fairclock lessons {self.lesson}",
            check_screen.INDENT,
        )
        if file and file.changed:
            self._check(file.path)
        self._print_keys()

    def _print_keys(self) -> None:
        following = unfinished_after(self.lesson)
        if self._is_full:
            after = f"Enter for the next one, {following}" if following else "Enter to end: nothing is left to do"
            say(self.console, f"Full marks, well done! Press {after}. {KEYS_AFTER_ALL}", 1)
        else:
            say(self.console, KEYS, 1)

    def _events(self, watch: FileWatch) -> Iterator[str | Path]:
        while True:
            self.kit.follow(self.lesson)
            if select.select([STANDARD_INPUT], [], [], LOOK_S)[0]:
                typed = b""
                with suppress(OSError):  # the terminal is gone
                    typed = os.read(STANDARD_INPUT, 4096)
                if not typed:
                    return
                *lines, self.typed = (self.typed + typed).split(b"\n")
                yield from (line.decode(errors="replace").strip().lower()[:1] for line in lines)
            yield from watch.saved(lambda: [file.path for file in self._files()])[-1:]

    def _check(self, path: Path, *, again: bool = False) -> None:
        """Grade a file, print the result, or only what changed unless `again`, and keep the points."""
        before = {each.task: each for each in self.report.verdicts} if self.report and not again else None
        try:
            with checking.own_pool() as pool:
                self.report = checking.check(self.lesson, path, pool)
        except FairclockError as error:
            self.kit.follow(self.lesson)
            self.report = None
            say(self.console, str(error), 1)
        else:
            lines = check_screen.screen(self.report, {}, before=before, to_see_more="v")
            checking.print_lines(lines, self.console)

    def _answer(self, key: str) -> None:
        if key == "h":
            self._hint()
        elif key == "v" and self.report:
            checking.print_lines(check_screen.screen(self.report, {}, verbose=True), self.console)
        elif key in {"", "v"}:
            file, why_none = self._choice()
            if file:
                self._check(file.path, again=True)
            else:
                say(self.console, why_none, 1)

    def _hint(self) -> None:
        full = {each.task for each in self.report.verdicts if each.points == each.max_points} if self.report else set()
        unfinished = [task for task in catalogue.load().tasks(self.lesson) if task.full_name not in full]
        for task in unfinished[:1]:
            for line in student_state.next_hint(task):
                say(self.console, line if len(unfinished) == 1 else f"{task.name}: {line}", check_screen.INDENT)


def _hang_up(signal_number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + signal_number)

"""Run lessons in separate processes, and collect the results of their claims, which measurements confirm or refute.

These runs use a separate state folder, so they do not change the student's progress.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.command_line.names import named
from harness.storage.user_state import FOLDER_VARIABLE, state_folder
from lessons.engine.tally import LessonRun

LIMIT_S = 600
"""The time limit in seconds of one lesson in this check. It is twenty times the longest time of a short run."""


def chosen(given: Sequence[str], lessons: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the lessons that the user named by number or name, in the order of `lessons`.

    If `given` is empty, return all lessons. Raise `UsageError` if a name fits no lesson or several lessons.
    """
    meant = {named(each, lessons) for each in given}
    return tuple(name for name in lessons if not given or name in meant)


def run_all(lessons: Sequence[str], times: int, *, report: Callable[[str], None]) -> tuple[LessonRun, ...]:
    """Run all lessons `times` times, and return the results. `report` receives the name of each run before the run.

    All lessons run once before the second run of any lesson. A short disturbance then affects only one run of a lesson.
    """
    runs = []
    for turn in range(1, times + 1):
        for lesson in lessons:
            report(f"{lesson}, run {turn} of {times}" if times > 1 else lesson)
            runs.append(run_lesson(lesson))
    return tuple(runs)


def run_lesson(lesson: str) -> LessonRun:
    """Run a lesson with the option `--fast`, and return its results, or the reason why it failed."""
    environment = {**os.environ, FOLDER_VARIABLE: str(state_folder() / "check-claims")}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "claims.json"
        command = [sys.executable, "-m", f"lessons.{lesson}", "--no-input", "--fast", "--json", str(file)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return LessonRun(lesson, {}, f"was stopped after {LIMIT_S} s")
        if done.returncode or not file.exists():
            errors = done.stderr.strip().splitlines() or ["no error message"]
            return LessonRun(lesson, {}, f"ended with exit code {done.returncode}: {errors[-1]}")
        return LessonRun(lesson, json.loads(file.read_text(encoding="utf-8")))

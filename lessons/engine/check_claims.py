"""Does every lesson still teach what is so? Each is run in a process of its own, and its claims are counted.

What the lessons keep (progress, caches) goes into a folder apart: this is no reader taking them.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.names import named
from harness.state import FOLDER_VARIABLE, state_folder
from lessons.engine.tally import Ran

LIMIT_S = 600
"""How long one lesson may take before it is given up: twenty times what the slowest short run should."""


def chosen(wanted: Sequence[str], there_are: Sequence[str]) -> tuple[str, ...]:
    """Return the lessons that are wanted, by number or name, all when nothing is; in the lessons' order.

    Raises `UsageError`, with close matches, for what means none or several.
    """
    meant = {named(each, there_are) for each in wanted}
    return tuple(name for name in there_are if not wanted or name in meant)


def run_all(lessons: Sequence[str], times: int, *, tell: Callable[[str], None]) -> tuple[Ran, ...]:
    """Run every lesson `times` times, one after the other, each time all of them: so a bad moment hits one run."""
    whole = [(turn, lesson) for turn in range(1, times + 1) for lesson in lessons]
    runs = []
    for turn, lesson in whole:
        tell(f"{lesson}, run {turn} of {times}" if times > 1 else lesson)
        runs.append(run_lesson(lesson))
    return tuple(runs)


def run_lesson(lesson: str) -> Ran:
    """Run a lesson with `--fast` and return what it wrote, or what it complained of."""
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
            return Ran(lesson, {}, f"was given up after {LIMIT_S} s")
        if done.returncode or not file.exists():
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            return Ran(lesson, {}, f"ended with {done.returncode}: {said[-1]}")
        return Ran(lesson, json.loads(file.read_text(encoding="utf-8")))

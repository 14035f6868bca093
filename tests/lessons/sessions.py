"""Run a lesson in a test: in this process, where the test sees all results, or as a command."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from once import once

from harness.paired.duel_result import Duel, Finding
from harness.paired.rounds import Reading, Round
from harness.storage.user_state import FOLDER_VARIABLE
from lessons.engine.lesson import Lesson
from lessons.engine.record import LessonRecord
from lessons.engine.run import Session

ROOT = Path(__file__).parents[2]


@dataclass
class Played:
    """A session, with all that it printed, the pictures it saved, and the records after each step."""

    session: Session
    out: io.StringIO
    saved: dict[str, str] = field(default_factory=dict)
    kept: list[LessonRecord] = field(default_factory=list)


Play = Callable[..., Played]
"""A function that prepares a session."""


def explained(prepare: Play, lesson: Lesson, name: str, result: object) -> tuple[str, dict[str, str]]:
    """Explain a made-up result of a step. Return the printed text and the result of each claim by id."""
    played = prepare(lesson)
    step = next(step for step in lesson.steps if step.name == name)
    page = played.session._page(step)
    page.prediction = step.question(page)
    assert step.explanation is not None
    step.explanation(page, result)
    return " ".join(played.out.getvalue().split()), {claim.id: str(claim.standing) for claim in page.claims}


def duel(ratio: float) -> Duel:
    """Return a duel with a narrow interval: the candidate is `ratio` times as fast."""
    rounds = tuple(Round(n, Reading(1e-3, 1e-3, 10), Reading(1e-3 / ratio, 1e-3 / ratio, 10), True) for n in range(3))
    finding = Finding.FASTER if ratio > 1.01 else Finding.SLOWER if ratio < 0.99 else Finding.SAME
    return Duel(ratio, ratio * 0.99, ratio * 1.01, finding, 0.01, False, rounds)


@dataclass(frozen=True)
class Taken:
    """One short run of a lesson as a command: exit code, output, record, and the processes that it left running.

    `wrong_words` has a line for each text of the explanations that does not fit the result of its claim.
    """

    code: int
    out: str
    err: str
    left: list[str]
    wrong_words: list[str]
    record: dict[str, Any]
    plots: Path

    @property
    def verdicts(self) -> dict[str, str]:
        """The result of each claim by id, in order."""
        return {claim["id"]: claim["verdict"] for claim in self.record["claims"]}


def taken(factory: pytest.TempPathFactory, name: str) -> Taken:
    """Run a lesson as a command, once per test session. A warning is an error there."""
    folder = once(factory, f"taken-{name}", lambda folder: _take(folder, name))
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    record = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    return Taken(**told, record=record, plots=folder / "plots")


def _take(folder: Path, name: str) -> None:
    environment = {**os.environ, FOLDER_VARIABLE: str(folder / "state"), "PYTHONPATH": str(ROOT)}
    runner, wrong_words = Path(__file__).with_name("forced.py"), folder / "wrong_words.json"
    command = [sys.executable, "-W", "error", str(runner), str(wrong_words), name, "--no-input", "--fast"]
    done = subprocess.run(
        [*command, "--json", str(folder / "claims.json"), "--plots", str(folder / "plots")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert (folder / "claims.json").is_file(), done.stderr
    told = {"code": done.returncode, "out": done.stdout, "err": done.stderr, "left": list(_left_running(environment))}
    told["wrong_words"] = json.loads(wrong_words.read_text(encoding="utf-8"))
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")


def _left_running(environment: dict[str, str]) -> Iterator[str]:
    """Yield the command lines of running processes that have this environment; none on systems without /proc."""
    mark = f"{FOLDER_VARIABLE}={environment[FOLDER_VARIABLE]}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                yield (process / "cmdline").read_text(errors="replace")
        except OSError:
            continue  # the process ended, or belongs to another user

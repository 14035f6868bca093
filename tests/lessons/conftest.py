import io
from functools import cache
from pathlib import Path

import pytest
import small_lesson
from rich.console import Console
from sessions import Play, Played

from harness.machine.environment import Environment
from harness.paired.noise import Noise, aa_control
from harness.storage.user_files import FOLDER_VARIABLE
from lessons.engine import conditions
from lessons.engine.conditions import Conditions
from lessons.engine.lesson import Lesson
from lessons.engine.run import LessonSession, RunOptions
from lessons.engine.screen import Screen


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a state folder of its own, so that the user's progress is not changed."""
    folder = tmp_path / "state"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


@cache
def control() -> Noise:
    return aa_control(budget_s=0.2)


@pytest.fixture(autouse=True)
def _one_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the noise once in this process, and not in each run of a lesson."""
    monkeypatch.setattr(conditions, "aa_control", lambda budget_s: control())  # noqa: ARG005 - the name is used


@pytest.fixture
def prepare(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return a function that prepares a lesson's session.

    `typed` are the lines that the student types. If it is None, the session never waits for input.
    """

    def build(
        lesson: Lesson = small_lesson.lesson,
        *,
        typed: list[str] | None = None,
        fast: bool = False,
        noise: float = 0.0,
        width: int = 80,
    ) -> Played:
        out, saved = io.StringIO(), dict[str, str]()
        screen = Screen(Console(file=out, width=width))
        lines = iter(typed or [])

        def read() -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(screen, "read", read)
        monkeypatch.setattr(screen, "wait", lambda: None)
        options = RunOptions(fast, typed is not None, saved.__setitem__)
        session = LessonSession(lesson, screen, options, Conditions(Environment.capture(), noise, "quiet"))
        return Played(session, out, saved)

    return build

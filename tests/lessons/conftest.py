import io
from pathlib import Path

import pytest
import small_lesson
from rich.console import Console
from sessions import Play, Played

from harness.environment import Environment
from harness.state import FOLDER_VARIABLE
from lessons.engine.lesson import Lesson
from lessons.engine.record import LessonRecord
from lessons.engine.run import Session, Settings
from lessons.engine.screen import Screen
from lessons.engine.today import Today


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's progress out of the state folder of whoever runs the tests."""
    folder = tmp_path / "state"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


@pytest.fixture
def prepare(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return what prepares a session: `typed` are the reader's lines, None for a run that never waits."""

    def build(
        lesson: Lesson = small_lesson.lesson,
        *,
        typed: list[str] | None = None,
        fast: bool = False,
        noise: float = 0.0,
        width: int = 80,
    ) -> Played:
        out, saved, kept = io.StringIO(), dict[str, str](), list[LessonRecord]()
        screen = Screen(Console(file=out, width=width))
        lines = iter(typed or [])

        def read() -> str:
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(screen, "read", read)
        monkeypatch.setattr(screen, "wait", lambda: None)
        settings = Settings(fast, typed is not None, saved.__setitem__, kept.append)
        session = Session(lesson, screen, settings, Today(Environment.capture(), noise, "quiet"))
        return Played(session, out, saved, kept)

    return build

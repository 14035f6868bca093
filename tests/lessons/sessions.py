"""A session of a lesson, made for a test, of which all can be looked at; or the whole lesson as a command."""

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.findings import Duel, Finding
from harness.rounds import Reading, Round
from lessons.engine.lesson import Lesson
from lessons.engine.record import LessonRecord
from lessons.engine.run import Session


@dataclass
class Played:
    """A session with everything it printed, saved and kept."""

    session: Session
    out: io.StringIO
    saved: dict[str, str] = field(default_factory=dict)
    kept: list[LessonRecord] = field(default_factory=list)


Play = Callable[..., Played]
"""Makes a session ready to run."""


def explained(prepare: Play, lesson: Lesson, name: str, result: object) -> tuple[str, dict[str, str]]:
    """Explain a planted result of a step; return what was printed and how the claims fared."""
    played = prepare(lesson)
    step = next(step for step in lesson.steps if step.name == name)
    page = played.session._page(step)
    page.prediction = step.question(page)
    assert step.explanation is not None
    step.explanation(page, result)
    return " ".join(played.out.getvalue().split()), {claim.id: str(claim.standing) for claim in page.claims}


def duel(ratio: float) -> Duel:
    """A finding without doubt: the candidate is `ratio` times as fast."""
    rounds = tuple(Round(n, Reading(1e-3, 1e-3, 10), Reading(1e-3 / ratio, 1e-3 / ratio, 10), True) for n in range(3))
    finding = Finding.FASTER if ratio > 1.01 else Finding.SLOWER if ratio < 0.99 else Finding.SAME
    return Duel(ratio, ratio * 0.99, ratio * 1.01, finding, 0.01, False, rounds)


def run_lesson(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a lesson as a command, to its end; a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", f"lessons.{name}", *map(str, arguments)],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done

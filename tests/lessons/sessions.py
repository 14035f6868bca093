"""Run a lesson in this process, or explain made-up results of its steps."""

import importlib.util
import io
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from harness.paired.duel import Duel, Finding
from harness.paired.rounds import Reading, Round
from lessons.engine.explain import explained
from lessons.engine.lesson import Lesson
from lessons.engine.run import LessonSession
from lessons.engine.screen import Screen

ROOT = Path(__file__).parents[2]


@dataclass
class Played:
    """A session, with all that it printed and the pictures it saved."""

    session: LessonSession
    out: io.StringIO
    saved: dict[str, str] = field(default_factory=dict)


Play = Callable[..., Played]
"""A function that prepares a session."""


class MadeUp:
    """The module of a lesson, whose functions explain made-up results.

    The lesson is imported when a test first uses it, because pytest collects each test in each of its processes.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"lessons.{self._name}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def explained(self, step: str, result: object, **before: object) -> tuple[str, dict[str, str]]:
        """Explain a made-up result of a step. Return the printed text and the result of each claim by id.

        `before` are the results of earlier steps that the figures use, by the name of the step. There is no noise.
        """
        out, found = io.StringIO(), self.lesson.step(step)
        screen = Screen(Console(file=out, width=10_000))
        results = {**before, step: result}
        asked = self.lesson.question(found, 0.0, results)
        shown = explained(found.document, self.lesson.measured(found, 0.0, results), asked)
        for part in shown.parts:
            screen.show(part, self.lesson.recorded)
        return " ".join(out.getvalue().split()), {claim.id: str(claim.standing) for claim in shown.claims}

    def check(
        self,
        step: str,
        result: object,
        expected: str | dict[str, str],
        *words: str,
        absent: Sequence[str] = (),
        **before: object,
    ) -> None:
        """Check the claims and the text of an explanation.

        `expected` is the result of all claims, or of those that it names. The text contains each of `words`, and none
        of `absent`.
        """
        printed, standings = self.explained(step, result, **before)
        wanted = dict.fromkeys(standings, expected) if isinstance(expected, str) else standings | expected
        assert standings == wanted, printed
        assert [each for each in words if each not in printed] == [], printed
        assert [each for each in absent if each in printed] == [], printed


def lesson_from(folder: Path, name: str, code: str, words: str) -> Lesson:
    """Write the two files of a lesson, import it, and return it."""
    (folder / f"{name}.md").write_text(words, encoding="utf-8")
    file = folder / f"{name}.py"
    file.write_text(f"from lessons.engine.api import *\n{code}\nlesson = load(__name__)\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    linecache.checkcache()
    spec.loader.exec_module(module)
    lesson = module.lesson
    assert isinstance(lesson, Lesson)
    return lesson


def duel(ratio: float) -> Duel:
    """Return a duel with a narrow interval: the candidate is `ratio` times as fast."""
    rounds = tuple(Round(n, Reading(1e-3, 1e-3, 10), Reading(1e-3 / ratio, 1e-3 / ratio, 10), True) for n in range(3))
    finding = Finding.FASTER if ratio > 1.01 else Finding.SLOWER if ratio < 0.99 else Finding.SAME
    return Duel(ratio, ratio * 0.99, ratio * 1.01, finding, 0.01, False, rounds)

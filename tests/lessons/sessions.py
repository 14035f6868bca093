"""Run a lesson in this process, or explain made-up results of its steps."""

import importlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from harness.machine.environment import Environment
from harness.paired.duel import Duel, Finding
from harness.paired.rounds import Reading, Round
from lessons.engine.conditions import Conditions
from lessons.engine.run import LessonSession, RunOptions, explain
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
    """A lesson that explains made-up results. Its attributes are those of the lesson's module.

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
        """Explain a result of a step. Return the printed text and the result of each claim by id.

        `before` are the results of earlier steps that the explanation uses, by the name of the step.
        """
        out = io.StringIO()
        conditions = Conditions(Environment.capture(), 0.0, "quiet")
        options = RunOptions(fast=True, interactive=False, save=lambda _name, _svg: None, keep=lambda _record: None)
        session = LessonSession(self.lesson, Screen(Console(file=out, width=80)), options, conditions)
        session.results.update(before)
        (found,) = (each for each in session.lesson.steps if each.name == step)
        page = session.page(found)
        page.prediction = found.question(page)
        explain(found, page, result)
        return " ".join(out.getvalue().split()), {claim.id: str(claim.standing) for claim in page.claims}

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


def duel(ratio: float) -> Duel:
    """Return a duel with a narrow interval: the candidate is `ratio` times as fast."""
    rounds = tuple(Round(n, Reading(1e-3, 1e-3, 10), Reading(1e-3 / ratio, 1e-3 / ratio, 10), True) for n in range(3))
    finding = Finding.FASTER if ratio > 1.01 else Finding.SLOWER if ratio < 0.99 else Finding.SAME
    return Duel(ratio, ratio * 0.99, ratio * 1.01, finding, 0.01, False, rounds)

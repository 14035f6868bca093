"""Run a lesson, and explain its results once more for each result that its claims can have.

As a script with the arguments LESSON [OPTION]..., run a lesson as `python -m lessons LESSON` does. Then explain the
measured results with each result of each claim, and of all claims of a step together. An explanation that fails ends
the script with a traceback.
"""

import io
import sys
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from lessons.__main__ import main
from lessons.engine import command
from lessons.engine.claim import Claim, ClaimWords, SettledClaim
from lessons.engine.interval import Interval, Standing
from lessons.engine.page import Page, Words
from lessons.engine.predict import Choice, Truth
from lessons.engine.run import LessonSession, explain
from lessons.engine.screen import Screen
from lessons.engine.step import Step

NOTHING_MEASURED = "nothing measured"
RESULTS = (Standing.HELD.value, Standing.REFUTED.value, Standing.INCONCLUSIVE.value, NOTHING_MEASURED)
"""The results that are chosen. With the last one, each interval that decides a claim or is printed is unknown."""


@dataclass(slots=True)
class ForcedPage(Page):
    """A page on which each claim in `forced` has the result `chosen`. Skipped claims stay skipped."""

    forced: frozenset[str] = frozenset()
    chosen: str = Standing.HELD.value

    def settle(self, claim: Claim, measured: Interval | float, **options: Any) -> None:
        unknown = self.chosen == NOTHING_MEASURED and claim.id in self.forced
        Page.settle(self, claim, Interval.unknown() if unknown else measured, **options)

    def reveal(self, truth: Truth | ClaimWords, *because: Words) -> None:
        if self.chosen == NOTHING_MEASURED and isinstance(truth, Interval | int | float):
            truth = Interval.unknown()
        Page.reveal(self, truth, *because)

    def _record(self, settled: SettledClaim, remark: str = "") -> None:
        if settled.id in self.forced and settled.standing is not Standing.SKIPPED and self.chosen in set(Standing):
            settled = replace(settled, standing=Standing(self.chosen))
        Page._record(self, settled, remark)


def explain_with(session: LessonSession, step: Step[object], forced: frozenset[str], chosen: str) -> None:
    """Explain the result of a step with the chosen result of these claims."""
    base, screen = session.page(step), Screen(Console(file=io.StringIO(), width=100))
    nothing = lambda _name, _svg: None  # noqa: E731 - no picture is saved
    page = ForcedPage(screen, base.noise, base.declared, base.results, nothing, forced=forced, chosen=chosen)
    page.prediction = step.question(page)
    if isinstance(page.prediction, Choice):
        page.answer = page.prediction.parse(next(iter(page.prediction.options)))
    explain(step, page, session.results[step.name])


_sessions: list[LessonSession] = []


class _KeptSession(LessonSession):
    """A session that stays available after the lesson's command."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _sessions.append(self)


if __name__ == "__main__":
    vars(command)["LessonSession"] = _KeptSession
    code: int | str | None = 0
    try:
        main(sys.argv[1:])
    except SystemExit as ending:
        code = ending.code
    (session,) = _sessions
    for step in session.lesson.steps:
        for forced in (*(frozenset({id_}) for id_ in step.claims), frozenset(step.claims)):
            for chosen in RESULTS:
                explain_with(session, step, forced, chosen)
    sys.exit(code)

"""Explain the result of a step while a test chooses the results of its claims.

As a script with the arguments FILE LESSON [OPTION]..., run a lesson as `python -m lessons LESSON` does. Then explain
the measured results with each result of each claim, and write a list of the wrong texts to FILE.
"""

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from lessons.__main__ import main
from lessons.engine import command
from lessons.engine.claim import Claim, ClaimWords, SettledClaim
from lessons.engine.interval import Interval, Standing
from lessons.engine.markup import plain
from lessons.engine.page import Page, Words
from lessons.engine.predict import Choice, Truth
from lessons.engine.run import LessonSession, explain
from lessons.engine.screen import Screen
from lessons.engine.step import Step

NOTHING_MEASURED = "nothing measured"
RESULTS = (Standing.HELD.value, Standing.REFUTED.value, Standing.INCONCLUSIVE.value, NOTHING_MEASURED)
"""The results that a test can choose. With the last result, each interval that decides a claim or is printed is
unknown.
"""


@dataclass(slots=True)
class ForcedPage(Page):
    """A page on which each claim in `forced` has the result `chosen`, whatever was measured. Skipped claims stay
    skipped.

    `used` collects the texts about claims that the explanation passed to the page.
    """

    forced: frozenset[str] = frozenset()
    chosen: str = Standing.HELD.value
    used: list[ClaimWords] = field(default_factory=list)

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

    def _joined(self, words: Sequence[Words]) -> str:
        self.used += [each for each in words if isinstance(each, ClaimWords)]
        return Page._joined(self, words)


@dataclass(frozen=True)
class Explained:
    """One explanation with chosen results: the texts about the chosen claims, and all that was printed."""

    result: str
    used: list[ClaimWords]
    printed: str

    def wrong_words(self) -> list[str]:
        """Return the printed texts that belong to a result other than the chosen result."""
        standing = Standing.INCONCLUSIVE if self.result == NOTHING_MEASURED else Standing(self.result)
        rest, wrong = self.printed, set[str]()
        for words in self.used:
            right = as_printed(words.text(standing))
            rest = rest.replace(right, "") if right else rest
            wrong |= {as_printed(text) for text in (words.held, words.refuted, words.unclear)} - {right, ""}
        return [text for text in wrong if text in rest]


def as_printed(text: str) -> str:
    """Return a text without marks and line breaks."""
    return " ".join(plain(text).split())


def explanations(session: LessonSession, step: Step[object], result: object) -> Iterator[Explained]:
    """Yield explanations of `result`: for each result, with each claim of the step and then with all claims forced to
    it.
    """
    groups = [frozenset({id_}) for id_ in step.claims] + [frozenset(step.claims)]
    for forced, chosen in product(groups, RESULTS):
        out, base = io.StringIO(), session._page(step)
        screen = Screen(Console(file=out, width=100))
        nothing = lambda _name, _svg: None  # noqa: E731 - no picture is saved
        page = ForcedPage(screen, base.noise, base.declared, base.results, nothing, forced=forced, chosen=chosen)
        page.prediction = step.question(page)
        if isinstance(page.prediction, Choice):
            page.answer = page.prediction.parse(next(iter(page.prediction.options)))
        explain(step, page, result)
        skipped = {each.id for each in page.claims if each.standing is Standing.SKIPPED}
        used = [words for words in page.used if words.claim_id in forced - skipped]
        yield Explained(chosen, used, " ".join(out.getvalue().split()))


def wrong_words(session: LessonSession) -> list[str]:
    """Return the texts in the explanations of a complete session that belong to another result than the chosen one."""
    return [
        f"{step.name}, {explained.result}: {text}"
        for step in session.lesson.steps
        for explained in explanations(session, step, session.results[step.name])
        for text in explained.wrong_words()
    ]


_sessions: list[LessonSession] = []


class _KeptSession(LessonSession):
    """A session that stays available after the lesson's command."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _sessions.append(self)


def _run_as_script(file: str, *arguments: str) -> int:
    vars(command)["LessonSession"] = _KeptSession
    code: int | str | None = 0
    try:
        main(arguments)
    except SystemExit as ending:
        code = ending.code
    assert _sessions
    Path(file).write_text(json.dumps([text for each in _sessions for text in wrong_words(each)]))
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(_run_as_script(*sys.argv[1:]))

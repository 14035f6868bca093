"""Explain the result of a step while a test chooses the results of its claims.

As a script with the arguments FILE LESSON [OPTION]..., run a lesson as `python -m lessons LESSON` does. Then explain
the measured results with each result of each claim, and write a list of the wrong texts to FILE.
"""

import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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


def as_printed(text: str) -> str:
    """Return a text without marks and line breaks."""
    return " ".join(plain(text).split())


def misplaced(standing: Standing, used: Sequence[ClaimWords], printed: str) -> set[str]:
    """Return the texts in `printed` that belong to another result of their claim than `standing`."""
    wrong = set[str]()
    for words in used:
        right = as_printed(words.text(standing))
        printed = printed.replace(right, "") if right else printed
        wrong |= {as_printed(text) for text in (words.held, words.refuted, words.unclear)} - {right, ""}
    return {text for text in wrong if text in printed}


def wrong_words_of(session: LessonSession, step: Step[object], forced: frozenset[str], chosen: str) -> set[str]:
    """Explain the result of a step with the chosen result of these claims, and return the misplaced texts."""
    out, base = io.StringIO(), session._page(step)
    screen = Screen(Console(file=out, width=100))
    nothing = lambda _name, _svg: None  # noqa: E731 - no picture is saved
    page = ForcedPage(screen, base.noise, base.declared, base.results, nothing, forced=forced, chosen=chosen)
    page.prediction = step.question(page)
    if isinstance(page.prediction, Choice):
        page.answer = page.prediction.parse(next(iter(page.prediction.options)))
    explain(step, page, session.results[step.name])
    skipped = {each.id for each in page.claims if each.standing is Standing.SKIPPED}
    used = [words for words in page.used if words.claim_id in forced - skipped]
    standing = Standing.INCONCLUSIVE if chosen == NOTHING_MEASURED else Standing(chosen)
    return misplaced(standing, used, " ".join(out.getvalue().split()))


def wrong_words(session: LessonSession) -> list[str]:
    """Return the misplaced texts for each result of each claim, and of all claims of a step together."""
    return [
        f"{step.name}, {chosen}: {text}"
        for step in session.lesson.steps
        for forced in (*(frozenset({id_}) for id_ in step.claims), frozenset(step.claims))
        for chosen in RESULTS
        for text in wrong_words_of(session, step, forced, chosen)
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

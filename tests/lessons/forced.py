"""Explain the result of a step while a test chooses the results of its claims."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from sessions import Played

from lessons.engine.claim import Claim, ClaimWords, SettledClaim
from lessons.engine.interval import Interval
from lessons.engine.markup import plain
from lessons.engine.page import Page, Words
from lessons.engine.predict import Choice, Truth
from lessons.engine.run import explain
from lessons.engine.standing import Standing
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

    def settle(
        self,
        claim: Claim,
        measured: Interval | float,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        unit: Callable[[float], str] | None = None,
        shown: str = "",
        remark: str = "",
        disturbed: bool = False,
    ) -> None:
        if self.chosen == NOTHING_MEASURED and claim.id in self.forced:
            measured = Interval.unknown()
        Page.settle(
            self,
            claim,
            measured,
            at_least=at_least,
            at_most=at_most,
            unit=unit,
            shown=shown,
            remark=remark,
            disturbed=disturbed,
        )

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


def explanations(played: Played, step: Step[object], result: object) -> Iterator[Explained]:
    """Yield explanations of `result`: for each result, with each claim of the step and then with all claims forced to
    it.
    """
    groups = [frozenset({id_}) for id_ in step.claims] + [frozenset(step.claims)]
    for forced, chosen in product(groups, RESULTS):
        base = played.session._page(step)
        page = ForcedPage(base.screen, base.noise, base.declared, base.results, base.save, forced=forced, chosen=chosen)
        page.prediction = step.question(page)
        if isinstance(page.prediction, Choice):
            page.answer = page.prediction.parse(next(iter(page.prediction.options)))
        played.out.truncate(0)
        played.out.seek(0)
        explain(step, page, result)
        skipped = {each.id for each in page.claims if each.standing is Standing.SKIPPED}
        used = [words for words in page.used if words.claim_id in forced - skipped]
        yield Explained(chosen, used, " ".join(played.out.getvalue().split()))

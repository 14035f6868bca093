"""The page of one step: what its author writes the observation on.

A page passes words, tables and pictures on to the screen, and keeps what must outlive them: the claims
settled and how the reader's prediction fared. It knows the results of the steps before, and how restless the
machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

from harness import plots, units
from lessons.engine.claim import Claim, bounds_in_words, claim, skipped, towards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.findings import Duel
    from harness.tables import Table
    from lessons.engine.lesson import Step
    from lessons.engine.predict import Answer, Prediction
    from lessons.engine.screen import Screen

R = TypeVar("R")
Results = MutableMapping[str, object]


@dataclass(frozen=True, slots=True)
class Prophecy:
    """What the reader said beforehand, and what came: None where it was skipped or could not be told."""

    question: str
    answer: str | None
    truth: str | None
    right: bool | None


@dataclass(slots=True)
class Page:
    """One step's page. Authors use the methods; the fields are set by whoever runs the lesson.

    `noise` is today's A/A error as a fraction: how far two measurements of the same code were apart.
    """

    screen: Screen
    noise: float
    sentences: Mapping[str, str]
    results: Results
    save: Callable[[str, str], None]
    prediction: Prediction | None = None
    answer: Answer | None = None
    claims: list[Claim] = field(default_factory=list)
    prophecy: Prophecy | None = None

    def say(self, *sentences: str) -> None:
        """Print a paragraph; words between backticks are set as code."""
        self.screen.say(" ".join(sentences))

    def table(self, table: Table) -> None:
        """Print a table."""
        self.screen.table(table)

    def histogram(self, samples: Sequence[float], *, name: str, caption: str) -> None:
        """Print samples in seconds as a one-line histogram, and keep the same as an SVG where asked to.

        `name` becomes part of the file's name; `caption` is printed and is the picture's alternative text.
        """
        self.screen.picture(plots.histogram(samples), caption)
        self.save(name, plots.histogram_svg(samples, title=caption))

    def drawing(self, text: str, svg: str, *, name: str, caption: str) -> None:
        """Print a picture made of characters, and keep the same as an SVG where asked to; `name` as in `histogram`."""
        self.screen.picture(text, caption)
        self.save(name, svg)

    def output(self, text: str, *, caption: str) -> None:
        """Print what a program printed, its lines as they are."""
        self.screen.picture(text, caption)

    def result(self, step: Step[R]) -> R:
        """Return what an earlier step's teaching code gave in this run."""
        return cast("R", self.results[step.name])

    def reveal(self, truth: str | float | None, *because: str) -> None:
        """Set the measured truth beside the reader's prediction.

        `truth` is the letter of a choice, or the number guessed at; None when this run could not tell.
        `because` is said after it, also to a reader who skipped the question.
        """
        if self.prediction is None:
            raise ValueError("This step asked nothing, so there is nothing to reveal.")
        said = "" if truth is not None else "This run could not tell."
        right = None
        if self.answer is not None and truth is not None:
            judgement = self.prediction.judge(self.answer, truth)
            said, right = judgement.words, judgement.right
        elif truth is not None:
            said = f"{self.prediction.say(truth)}."
        told = None if truth is None else self.prediction.say(truth)
        self.prophecy = Prophecy(
            self.prediction.question, None if self.answer is None else self.answer.text, told, right
        )
        words = " ".join([said, *because])
        self.screen.reveal(words[:1].upper() + words[1:], right=right)

    def claim(
        self,
        id: str,  # noqa: A002 - as in `claim.claim`
        measured: float,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        error: float = 0.0,
        noise: float = 0.0,
        unit: Callable[[float], str] = units.number,
        shown: str = "",
        remark: str = "",
    ) -> Claim:
        """Settle the claim `id` of this step (see `claim.claim`) and print how it fared.

        `unit` writes the measured value and the bounds; `shown` stands for the value where it says more, such as a
        median whose interval has another middle. `remark` is printed behind it. Give `noise` where the claim compares
        times: half the width that `page.noise` puts around `measured`.
        """
        settled = claim(id, measured, low, high, error=error, noise=noise)
        words = shown or unit(measured)
        return self._settle(replace(settled, shown=words, wanted=bounds_in_words(low, high, unit)), remark)

    def claim_duel(
        self,
        id: str,  # noqa: A002 - as in `claim.claim`
        found: Duel,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        unit: Callable[[float], str] = units.ratio,
        remark: str = "",
    ) -> Claim:
        """Settle the claim `id` about the ratio of a duel: its interval is the doubt, and knows of today's noise."""
        error = towards(found.ratio, (found.low, found.high), low, high)
        return self.claim(id, found.ratio, low, high, error=error, unit=unit, remark=remark)

    def skip(self, id: str, reason: str) -> Claim:  # noqa: A002 - as in `claim.claim`
        """Skip the claim `id` of this step: this machine lacks a part, such as a compiler or a second core.

        `reason` says which part, and what brings it; it is printed. A step that could not run at all also
        says `reveal(None)` where it asked something. Use `claim` for what was measured but could not be told.
        """
        return self._settle(skipped(id, reason))

    def without(self, reason: str, shown: str) -> None:
        """Skip every claim of a step that cannot run here: say why, and what it would have shown."""
        if self.prediction is not None:
            self.reveal(None)
        for id_ in self.sentences:
            self.skip(id_, reason)
        self.say(f"With it, this step shows {shown}.")

    def _settle(self, settled: Claim, remark: str = "") -> Claim:
        if settled.id not in self.sentences:
            raise ValueError(f"The claim {settled.id} is not declared at its step.")
        self.claims.append(settled)
        self.screen.claim(settled, self.sentences[settled.id], remark)
        return settled

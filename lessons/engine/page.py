"""Print the results of a step of a lesson: an explanation calls the methods of its `Page`.

A page keeps the claims with their results, and the result of the student's prediction. It also contains the results of
earlier steps and the machine's noise.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar, cast

from harness.charts import plots
from harness.charts.pictures import histogram_svg
from harness.rendering.tables import Table
from lessons.engine.claim import Claim, ClaimWords, SettledClaim
from lessons.engine.explain import Answer, ClaimLine, Paragraph, Part, Photo, Picture
from lessons.engine.figures import Figures, Lacking
from lessons.engine.interval import Interval, Standing, interval_of
from lessons.engine.markup import plain
from lessons.engine.predict import Judgement, Prediction, PredictionResult, StudentAnswer, Truth
from lessons.engine.screen import Screen

R_co = TypeVar("R_co", covariant=True)
Results = MutableMapping[str, object]
"""The results of the steps, by the name of the step."""

Words = str | ClaimWords
"""A text, or one text for each possible result of a claim, of which the text that fits the result is printed."""


class EarlierStep(Protocol[R_co]):
    """The part of a `Step` that `Page.result` needs: its name, and the type of the result of its code."""

    @property
    def name(self) -> str:
        """The name of the step."""

    def __call__(self, *, fast: bool = False) -> R_co:
        """Run the step's code."""


@dataclass(slots=True)
class Page:
    """Prints and keeps the results of one step. Explanations call its methods.

    `noise` is the machine's noise as a fraction. In 95 % of comparisons of a function with itself, the two times differ
    by less than `noise`. `declared` are the claims of this step by id.
    """

    screen: Screen
    noise: float
    declared: Mapping[str, Claim]
    results: Results
    save: Callable[[str, str], None]
    prediction: Prediction | None = None
    answer: StudentAnswer | None = None
    claims: list[SettledClaim] = field(default_factory=list)
    prediction_result: PredictionResult | None = None
    figures: Figures | Lacking | None = None

    def show(self, part: Part, recorded: Path) -> None:
        """Print a part of an explanation. `recorded` is the lesson's folder of recorded data."""
        match part:
            case Paragraph(text):
                self.say(text)
            case Answer(judgement):
                self._reveal(judgement)
            case ClaimLine(settled, remark, words):
                self._record(settled, remark)
                if words:
                    self.screen.claim_words(words)
            case Picture(name, text, svg, caption):
                if svg:
                    self.drawing(text, svg, name=name, caption=caption)
                else:
                    self.output(text, caption=caption)
            case Photo(file, caption):
                self.photo(recorded / file, caption=caption)
            case Table():
                self.table(part)

    def say(self, *words: Words) -> None:
        """Print a paragraph that consists of these texts. Leave out texts about skipped claims."""
        text = self._joined(words)
        if text:
            self.screen.say(text)

    def table(self, table: Table) -> None:
        """Print a table."""
        self.screen.table(table)

    def histogram(self, samples: Sequence[float], *, name: str, caption: str) -> None:
        """Print a histogram of samples in seconds, on one line. With `--plots`, also save it as an SVG file.

        `name` becomes part of the file's name. `caption` is printed, and is also the picture's alternative text.
        """
        self.drawing(plots.histogram(samples), histogram_svg(samples, title=plain(caption)), name=name, caption=caption)

    def drawing(self, text: str, svg: str, *, name: str, caption: str) -> None:
        """Print a picture made of characters, or in a notebook its SVG. With `--plots`, also save the SVG."""
        self.screen.drawing(text, svg, caption)
        self.save(name, svg)

    def output(self, text: str, *, caption: str) -> None:
        """Print the output of a program below its caption. Line breaks are kept."""
        self.screen.picture(text, caption)

    def photo(self, path: Path, *, caption: str) -> None:
        """Show the picture in a PNG file below its caption. A terminal shows the path of the file instead."""
        self.screen.photo(path, caption)

    def result(self, step: EarlierStep[R_co]) -> R_co:
        """Return the result of an earlier step."""
        return cast("R_co", self.results[step.name])

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
        """Compare `measured` with the bounds of a claim of this step, and print and keep the claim's result.

        A number counts as an exact value. If the bounds or the unit depend on the measurement, `at_least`, `at_most`
        and `unit` replace those of the claim. `shown` replaces the printed value, and `remark` is printed after it.
        `disturbed` states that other programs may have moved the value away from what the claim says. Then the value
        can confirm the claim, but not refute it.
        """
        known = replace(
            claim,
            at_least=claim.at_least if at_least is None else at_least,
            at_most=claim.at_most if at_most is None else at_most,
            unit=unit or claim.unit,
        )
        settled = known.settled(interval_of(measured), shown)
        if disturbed and settled.standing is Standing.REFUTED:
            settled = known.settled(interval_of(measured).void_if(True), shown)
        self._record(settled, remark)

    def skip(self, claim: Claim, reason: str) -> None:
        """Skip a claim of this step because the machine lacks something, such as a compiler.

        `reason` is printed. It names what is missing and how to get it.
        """
        self._record(claim.skipped(reason))

    def skip_step(self, reason: str, *, shows: str) -> None:
        """Skip each claim of a step that cannot run on this machine, and print the reason.

        `reason` names what is missing and how to get it. `shows` is the end of the sentence "If nothing is missing,
        this step shows …".
        """
        if self.prediction is not None:
            self.reveal(None)
        for claim in self.declared.values():
            self.skip(claim, reason)
        self.say(f"If nothing is missing, this step shows {shows}.")

    def reveal(self, truth: Truth | ClaimWords, *because: Words) -> None:
        """Print the right answer to this step's question, and whether the student's prediction was right.

        `truth` is the letter of an option, or a measured interval or number. It can also be a `ClaimWords` that
        contains the letter for each result of a claim. None means that this run could not decide the question.
        `because` is printed after the answer.
        """
        if self.prediction is None:
            raise ValueError("This step has no question, so there is no answer to reveal.")
        known = (self._text(truth) or None) if isinstance(truth, ClaimWords) else truth
        self._reveal(self.prediction.judge(self.answer, known), *because)

    def _reveal(self, judged: Judgement, *because: Words) -> None:
        assert self.prediction
        answer = None if self.answer is None else self.answer.text
        self.prediction_result = PredictionResult(self.prediction.question, answer, judged.truth, judged.right)
        words = self._joined((judged.words, *because))
        self.screen.reveal(words[:1].upper() + words[1:], right=judged.right)

    def _joined(self, words: Sequence[Words]) -> str:
        return " ".join(filter(None, map(self._text, words)))

    def _text(self, words: Words) -> str:
        if isinstance(words, str):
            return words
        for settled in self.claims:
            if settled.id == words.claim_id:
                return words.text(settled.standing)
        raise ValueError(f"The claim {words.claim_id} has no result yet. Settle it before you print a text about it.")

    def _record(self, settled: SettledClaim, remark: str = "") -> None:
        if settled.id not in self.declared:
            raise ValueError(f"The claim {settled.id} is not declared at its step.")
        if any(each.id == settled.id for each in self.claims):
            raise ValueError(f"The claim {settled.id} is already settled.")
        self.claims.append(settled)
        self.screen.claim(settled, remark)

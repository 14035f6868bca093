"""Predictions: the student answers a question before the measurement. Afterwards the lesson judges the answer.

The methods of a question are pure: `parse` turns a typed line into an answer, and `judge` compares an answer with the
measured value. Only the function `ask` reads input and prints. Its arguments are a function that reads a line and a
function that prints.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from harness.rendering import units
from lessons.engine import numbers
from lessons.engine.interval import ClaimStanding, Interval, interval_of
from lessons.engine.phrases import phrase

LETTERS: Final = "abcdefgh"
"""The letters of the options of a question."""

BETWEEN = " " * 5
"""The spaces between two options on one line."""

UNCLEAR = "This run gives no clear answer."

Truth = str | float | Interval | None
"""The right answer: the letter of an option, or a measured number or interval. None if the measurement does not show
it."""


@dataclass(frozen=True, slots=True)
class StudentAnswer:
    """The student's answer: the letter of an option or a number, and the same answer as text."""

    value: str | float
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The comparison of the student's answer with the right answer.

    `right` is None if the student skipped the question, or if the measurement did not show the right answer. `truth` is
    the right answer as text, or None. `words` is the text that the lesson prints.
    """

    right: bool | None
    truth: str | None
    words: str


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """A question with the student's answer and the right answer.

    `answer` is None if the student skipped the question. `truth` is None if the measurement did not show the right
    answer. `right` is None in both cases.
    """

    question: str
    answer: str | None
    truth: str | None
    right: bool | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with a few options. `options` maps the letter of each option to its text, in the order shown.

    `limits` are the measured values at which the second and each further option begins. With limits, a measured value
    decides which option is right. Without limits, the lesson gives the letter of the right option.
    """

    question: str
    options: Mapping[str, str]
    limits: Sequence[float] = ()

    def __post_init__(self) -> None:
        if self.limits and (len(self.limits) != len(self.options) - 1 or list(self.limits) != sorted(self.limits)):
            raise ValueError(f"{self.question!r} needs one limit fewer than options, in ascending order.")

    @classmethod
    def of(cls, question: str, texts: Iterable[str], limits: Sequence[float] = ()) -> "Choice":
        """Return a question with these options, whose letters are a, b and so on."""
        return cls(question, dict(zip(LETTERS, texts, strict=False)), limits)

    @classmethod
    def ranges(cls, question: str, limits: Sequence[float], unit: Callable[[float], str]) -> "Choice":
        """Return a question whose options are ranges. For the limit 2 s, they are "less than 2 s" and "2 s or more"."""
        ends = [re.sub(r"(\.\d*[1-9])0+", r"\1", unit(limit)) for limit in limits]  # 1.5× instead of 1.50×
        between = [phrase("{low} to {high}", low=low, high=high) for low, high in pairwise(ends)]
        texts = [phrase("less than {end}", end=ends[0]), *between, phrase("{end} or more", end=ends[-1])]
        return cls.of(question, texts, limits)

    def offer(self) -> str:
        """Return one line with all options and their letters."""
        return BETWEEN.join(f"{key}  {words}" for key, words in self.options.items())

    def parse(self, typed: str) -> StudentAnswer | None:
        """Return the option whose letter or text was typed, or None if the line is not an option."""
        typed = typed.strip().casefold().rstrip(".)")
        for key, words in self.options.items():
            if typed in {key.casefold(), words.casefold()}:
                return StudentAnswer(key, words)
        return None

    def accepts(self) -> str:
        """Return a short sentence with the letters of the options."""
        *others, last = self.options
        return f"Type {', '.join(others)} or {last}"

    def judge(self, answer: StudentAnswer | None, truth: Truth) -> Judgement:
        """Return whether the answer is right, with the words for the student. A skipped question has the answer None.

        A measured interval can contain values of several options. An answer that is one of these options is then
        neither right nor wrong. Any other answer is wrong.
        """
        possible = self._possible(truth)
        texts = phrase(" or ").join(self.options[key] for key in possible)
        if answer is None:
            return Judgement(None, texts, f"{texts}.") if len(possible) == 1 else Judgement(None, None, phrase(UNCLEAR))
        said = phrase("Your answer: {answer}.", answer=answer.text)
        if not possible or (len(possible) > 1 and answer.value in possible):
            return Judgement(None, None, f"{said} {phrase(UNCLEAR)}")
        if answer.value in possible:
            return Judgement(right=True, truth=texts, words=f"{said} {phrase('That is right.')}")
        return Judgement(right=False, truth=texts, words=f"{said} {phrase('The right answer: {texts}.', texts=texts)}")

    def _possible(self, truth: Truth) -> list[str]:
        if truth is None:
            return []
        if isinstance(truth, str):
            return [truth]
        if not self.limits:
            raise ValueError(
                f"{self.question!r} has no limits, so a number does not decide it. Reveal a letter instead."
            )
        measured = interval_of(truth)
        if math.isnan(measured.middle):
            return []
        first, last = (bisect_right(self.limits, end) for end in (measured.lowest, measured.highest))
        return list(self.options)[first : last + 1]


@dataclass(frozen=True, slots=True)
class Guess:
    """A question for a positive number in `unit`. A right answer is within the factor `near` of the measured number."""

    question: str
    unit: str = ""
    near: float = 2.0

    def offer(self) -> str:
        """Return the line below the question. It names the unit of the number, unless the number is a ratio."""
        return phrase("A number" if self.unit in numbers.RATIOS else "A number of {unit}", unit=self.unit)

    def parse(self, typed: str) -> StudentAnswer | None:
        """Return the number that was typed, or None if `numbers.positive` cannot read it."""
        value = numbers.positive(typed, self.unit)
        return None if value is None else StudentAnswer(value, self._text(value))

    def accepts(self) -> str:
        """Return a short sentence with examples of numbers that can be read."""
        of = "" if self.unit in numbers.RATIOS else f" of {self.unit}"
        more = ", 50 %" if self.unit in numbers.RATIOS else ", 3 ms" if self.unit in numbers.SECONDS else ""
        return f"Type a number{of} above 0, such as 3, 2.5e3, 1,000, 60k{more}"

    def judge(self, answer: StudentAnswer | None, truth: Truth) -> Judgement:
        """Return whether the answer is right, with the words for the student. A skipped question has the answer None.

        The words for a wrong answer state by which factor it is too high or too low. If the answer is near one part of
        the measured interval but not near all of it, it is neither right nor wrong.
        """
        measured = interval_of(math.nan if truth is None else float(truth) if isinstance(truth, str) else truth)
        text = self._text(measured.middle)
        if math.isnan(measured.middle):
            said_so = "" if answer is None else phrase("Your answer: {answer}.", answer=answer.text)
            return Judgement(None, None, f"{said_so} {phrase(UNCLEAR)}".strip())
        if answer is None:
            return Judgement(None, text, f"{text}.")
        said, known = float(answer.value), {"answer": answer.text, "text": text}
        standing = measured.compare(at_least=said / self.near, at_most=said * self.near)
        if standing is ClaimStanding.HELD:
            return Judgement(True, text, phrase("Your answer: {answer}. It is close to {text}.", **known))
        if standing is ClaimStanding.INCONCLUSIVE:
            words = phrase("Your answer: {answer}. Measured: {text}.", **known)
            return Judgement(None, None, f"{words} {phrase(UNCLEAR)}")
        high = "Your answer: {answer}, {times} too high. Measured: {text}."
        low = "Your answer: {answer}, {times} too low. Measured: {text}."
        times = units.ratio(max(said / measured.middle, measured.middle / said), 2) if measured.middle > 0 else "far"
        return Judgement(False, text, phrase(high if said > measured.middle else low, times=times, **known))

    def _text(self, value: float) -> str:
        return f"{units.number(value)} {self.unit}".strip()


Prediction = Choice | Guess
"""A question. `offer` is the line below it, and `accepts` a sentence about what to type."""


def ask(prediction: Prediction, read: Callable[[], str], show: Callable[[str], None]) -> StudentAnswer | None:
    """Return the student's answer. Ask again until an answer can be read. Return None after an empty line.

    `read` returns one typed line, and `show` prints a sentence. The function does not catch `EOFError` (closed input)
    and `KeyboardInterrupt` (Ctrl-C).
    """
    while typed := read().strip():
        answer = prediction.parse(typed)
        if answer is not None:
            return answer
        show(f"This is not one of the answers. {prediction.accepts()}. Press Enter to skip.")
    return None


@dataclass(frozen=True, slots=True)
class Score:
    """The student's answers in one or more lessons: the numbers of right and of undecided answers, and the wrong ones.

    An answer is undecided if the measurement did not show the right answer.
    """

    right: int = 0
    wrong: tuple[PredictionResult, ...] = ()
    undecided: int = 0

    @classmethod
    def of(cls, predictions: Iterable[PredictionResult]) -> "Score":
        """Return the score of these predictions. Skipped questions do not count."""
        answered = [each for each in predictions if each.answer is not None]
        wrong = tuple(each for each in answered if each.right is False)
        right = sum(each.right is True for each in answered)
        return cls(right, wrong, len(answered) - right - len(wrong))

    @property
    def decided(self) -> int:
        """The number of answers that were right or wrong, not undecided."""
        return self.right + len(self.wrong)

    def sentence(self) -> str:
        """Return the score as text, such as "5 of 7 predictions right.". It is empty if there are no answers."""
        parts = [f"{self.right} of {units.some(self.decided, 'prediction')} right."] if self.decided else []
        if self.undecided:
            parts.append(f"{units.some(self.undecided, 'answer')} could not be decided.")
        return " ".join(parts)

    def __add__(self, other: "Score") -> "Score":
        return Score(self.right + other.right, self.wrong + other.wrong, self.undecided + other.undecided)

"""Predictions: the reader commits to an answer before the measurement speaks, and then hears how near it was.

A prediction is a value with pure functions: `parse` (what was typed → an answer) and `judge` (answer and
truth → words). `ask` is the only part that waits for somebody, and it is handed how to read and how to
speak.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from harness import units
from lessons.engine import numbers

BETWEEN = " " * 5
"""Stands between two answers on offer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reader said: the key or number that counts, and the same as the reader would say it."""

    value: str | float
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an answer was right, and the sentence that says so."""

    right: bool
    words: str


class Prediction(Protocol):
    """A question with a way to read its answer and a way to judge it."""

    @property
    def question(self) -> str:
        """What is asked, in full sentences."""

    def offer(self) -> str:
        """Return the line under the question: what may be typed."""

    def parse(self, typed: str) -> Answer | None:
        """Return the answer that `typed` means, or None when it means none."""

    def accepts(self) -> str:
        """Return what to type, for a reader who typed something else."""

    def judge(self, answer: Answer, truth: str | float) -> Judgement:
        """Compare an answer with what was measured."""

    def say(self, truth: str | float) -> str:
        """Return the measured truth as an answer would be written."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with a few answers: `options` maps a letter to its words, in the order shown."""

    question: str
    options: Mapping[str, str]

    def offer(self) -> str:
        """Return every option with its letter, and how to skip."""
        return BETWEEN.join(f"{key}  {words}" for key, words in self.options.items())

    def parse(self, typed: str) -> Answer | None:
        """Return the option whose letter, or whose very words, were typed."""
        typed = typed.strip().casefold().rstrip(".)")
        for key, words in self.options.items():
            if typed in {key.casefold(), words.casefold()}:
                return Answer(key, words)
        return None

    def accepts(self) -> str:
        """Return the letters."""
        *others, last = self.options
        return f"Type {', '.join(others)} or {last}"

    def judge(self, answer: Answer, truth: str | float) -> Judgement:
        """Return right for the option that was measured to be true."""
        if answer.value == truth:
            return Judgement(right=True, words=f"You said {answer.text}, and so it is.")
        return Judgement(right=False, words=f"You said {answer.text}. It was {self.say(truth)}.")

    def say(self, truth: str | float) -> str:
        """Return the words of the option with the letter `truth`."""
        return self.options[str(truth)]


@dataclass(frozen=True, slots=True)
class Guess:
    """A question after a positive number in `unit`; within a factor of `near` of the truth is right."""

    question: str
    unit: str = ""
    near: float = 2.0

    def offer(self) -> str:
        """Return what kind of number is wanted."""
        return f"A number of {self.unit}" if self.unit else "A number"

    def parse(self, typed: str) -> Answer | None:
        """Return the number typed, as `numbers.positive` reads it."""
        value = numbers.positive(typed, self.unit)
        return None if value is None else Answer(value, self.say(value))

    def accepts(self) -> str:
        """Return which numbers are understood."""
        of = f" of {self.unit}" if self.unit else ""
        more = ", 50 %" if self.unit in numbers.RATIOS else ", 3 ms" if self.unit in numbers.SECONDS else ""
        return f"Type a number{of} above 0, such as 3, 2.5e3, 1,000, 60k{more}"

    def judge(self, answer: Answer, truth: str | float) -> Judgement:
        """Return how many times too high or too low the guess was."""
        said, measured = float(answer.value), float(truth)
        times = max(said / measured, measured / said) if measured > 0 else math.inf
        if times <= self.near:
            return Judgement(right=True, words=f"You said {answer.text}, near the {self.say(measured)} measured.")
        direction = "high" if said > measured else "low"
        words = f"You said {answer.text}: {units.ratio(times, 2)} too {direction}. It was {self.say(measured)}."
        return Judgement(right=False, words=words)

    def say(self, truth: str | float) -> str:
        """Return a number with its unit."""
        return f"{units.number(float(truth))} {self.unit}".strip()


def ask(prediction: Prediction, read: Callable[[], str], tell: Callable[[str], None]) -> Answer | None:
    """Ask until an answer is understood; an empty line skips, which is None.

    `read` returns one typed line. What it raises at the end of input (`EOFError`) or on Ctrl-C passes
    through: the caller knows how to end a lesson.
    """
    while typed := read().strip():
        answer = prediction.parse(typed)
        if answer is not None:
            return answer
        tell(f"That is none of the answers. {prediction.accepts()}; Enter alone skips.")
    return None

"""The score of a student's predictions: how many are right, wrong and undecided."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.rendering import units
from lessons.engine.predict import PredictionResult


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

"""The midterm: a few questions of each kind about each lesson before it, drawn from the question bank."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lessons.guide.bank import KINDS, Question, questions_of
from lessons.guide.contents import LessonPage


@dataclass(frozen=True, slots=True)
class Exam:
    """An exam: its questions in order."""

    questions: tuple[Question, ...]

    @property
    def points(self) -> int:
        """The points of all questions."""
        return sum(question.points for question in self.questions)

    @property
    def minutes(self) -> int:
        """The minutes for the exam, rounded up to a multiple of 5."""
        return -int(-sum(question.minutes for question in self.questions) // 5) * 5


def draw(pages: Sequence[LessonPage], seed: int) -> Exam:
    """Return an exam with one question of each kind about each lesson. Another `seed` draws other questions."""
    chance = random.Random(f"midterm {seed}")
    drawn: list[Question] = []
    for page in pages:
        everything = list(questions_of(page))
        by_kind = [[question for question in everything if question.kind == kind] for kind in KINDS]
        drawn += [chance.choice(of_kind) for of_kind in by_kind if of_kind]
    return Exam(tuple(drawn))

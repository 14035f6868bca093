"""The question bank: recall questions, questions about wrong answers, and questions about terms.

Every question has a fixed right answer, which does not depend on a measurement. The midterm is drawn from the bank.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.glossary import Term
from lessons.engine.markup import plain
from lessons.engine.predict import LETTERS
from lessons.guide.contents import LessonPage
from lessons.guide.task_texts import TaskTexts

RECALL, MISTAKE, WORD = "recall", "mistake", "word"
POINTS: Final = {RECALL: 2, MISTAKE: 4, WORD: 1}
MINUTES: Final = {RECALL: 1.5, MISTAKE: 4.0, WORD: 1.0}
KINDS: Final = {
    RECALL: "a question about a key point of a lesson",
    MISTAKE: "a wrong submission, whose mistake the student finds",
    WORD: "the meaning of a term",
}
MOST_CODE_LINES: Final = 65
"""Longer code is not used in a question."""

OPTIONS: Final = 4

_NOT_IN_IDS: Final = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with one right option. `right` is its place, and `because` explains it. `code` can be empty."""

    id: str
    lesson: str
    kind: str
    text: str
    options: tuple[str, ...]
    right: int
    because: str
    code: str = ""

    @property
    def points(self) -> int:
        """The points for the right answer."""
        return POINTS[self.kind]

    @property
    def minutes(self) -> float:
        """The minutes that a student needs."""
        return MINUTES[self.kind]

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return LETTERS[self.right]


def questions_of(page: LessonPage) -> Iterator[Question]:
    """Yield all questions about a lesson. The order of the options is random, but equal in each pack."""
    for number, each in enumerate(page.recall, start=1):
        letters = list(each.choice.options)
        texts = tuple(each.choice.options.values())
        id_ = f"{page.name}-recall-{number}"
        yield Question(id_, page.name, RECALL, each.choice.question, texts, letters.index(each.answer), each.because)
    for task in page.tasks:
        yield from _mistakes(page, task)
    for term in page.terms:
        yield from _word(page, term)


def _mistakes(page: LessonPage, task: TaskTexts) -> Iterator[Question]:
    text = (
        f"In the exercise `{task.name}`, a student must {task.summary[:1].lower()}{task.summary[1:]}. "
        "This submission is wrong. Which explanation describes its mistake?"
    )
    for wrong in task.wrong_answers:
        others = [each.explanation for each in task.wrong_answers if each != wrong]
        if len(wrong.code.splitlines()) <= MOST_CODE_LINES and others:
            id_ = f"{page.name}-{task.name}-{wrong.name}"
            options, right = _shuffled(wrong.explanation, others, id_)
            yield Question(id_, page.name, MISTAKE, text, options, right, wrong.explanation, wrong.code)


def _word(page: LessonPage, term: Term) -> Iterator[Question]:
    """Yield the question about a term. There is none if the meaning contains the term's name."""
    shown = plain(term.meaning).casefold()
    related = {*term.see, term.name}
    others = [each.name for each in page.terms if each.name not in related and term.name not in each.see]
    if any(name.casefold() in shown for name in term.names) or len(others) < OPTIONS - 1:
        return
    id_ = f"{page.name}-word-{_NOT_IN_IDS.sub('-', term.name)}"
    options, right = _shuffled(term.name, others, id_)
    text = f"Which term has this meaning? “{term.meaning}”"
    yield Question(id_, page.name, WORD, text, options, right, f"The glossary explains “{term.name}” in this way.")


def _shuffled(right: str, others: Sequence[str], seed: str) -> tuple[tuple[str, ...], int]:
    """Return the right option among up to three others in random order, and its place."""
    chance = random.Random(seed)
    options = [right, *chance.sample(list(others), min(OPTIONS - 1, len(others)))]
    chance.shuffle(options)
    return tuple(options), options.index(right)


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


def draw_exam(pages: Sequence[LessonPage], seed: int) -> Exam:
    """Return an exam with one question of each kind about each lesson. Another `seed` draws other questions."""
    chance = random.Random(f"midterm {seed}")
    drawn: list[Question] = []
    for page in pages:
        everything = list(questions_of(page))
        by_kind = [[question for question in everything if question.kind == kind] for kind in KINDS]
        drawn += [chance.choice(of_kind) for of_kind in by_kind if of_kind]
    return Exam(tuple(drawn))

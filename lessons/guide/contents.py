"""Everything that the pack says about one lesson: its steps, questions, claims, exercise and recall questions."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Final

from harness import glossary
from lessons.engine import glossary as glossary_screen
from lessons.engine import recall
from lessons.engine.catalogue import LessonEntry, lesson_names
from lessons.engine.claim import Claim
from lessons.engine.explain import Measured, said
from lessons.engine.lesson import Lesson
from lessons.engine.predict import UNCLEAR, Choice, Guess
from lessons.engine.recall import Recall
from lessons.engine.recorded_run import RecordedRun
from lessons.engine.step import Step
from lessons.guide import charts, claim_texts, task_texts
from lessons.guide.claim_texts import Said
from lessons.guide.results import RECORDED, ClaimResult, LessonResults, Shown
from lessons.guide.task_texts import TaskTexts

PHOTOS: Final = Path(__file__).with_name("photos.toml")
"""The list of the recorded PNG files of lessons, such as pictures of TensorBoard's pages, with their steps."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A PNG picture with its caption, which is also its text for screen readers."""

    caption: str
    png: bytes


@cache
def listed_photos() -> tuple[dict[str, str], ...]:
    """Return the fields `file`, `step` and `caption` of each photo, from the file `photos.toml`."""
    return tuple(tomllib.loads(PHOTOS.read_text(encoding="utf-8"))["photos"])


def photos_of(lesson: str, step: str) -> tuple[Photo, ...]:
    """Return the photos of a step."""
    found = [each for each in listed_photos() if each["step"] == step and each["file"].startswith(f"{lesson}/")]
    return tuple(Photo(each["caption"], (RECORDED / each["file"]).read_bytes()) for each in found)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a step: its text, its options (none for a guess), and the usual reasoning behind wrong answers.

    `unit` is the unit of a guess. `expected` is an option, or a number with its unit. `depends_on` names what the
    answer depends on, if other machines can give another answer. `measured` is the right answer in the results of the
    pack, or "".
    """

    question: str
    options: tuple[str, ...]
    unit: str
    near: float
    expected: str
    depends_on: str
    wrong_reasoning: str
    measured: str

    @property
    def right(self) -> int | None:
        """The place of the right option among the options, or None for a guess.

        If the results do not show the right option, it is the expected one.
        """
        known = self.measured or self.expected
        return self.options.index(known) if known in self.options else None

    @property
    def expected_shown(self) -> str:
        """The expected answer as text, such as "b, less than 2×" or "about 5 times"."""
        if self.expected not in self.options:
            return self.expected
        return f"{'abcdefgh'[self.options.index(self.expected)]}, {self.expected}"


@dataclass(frozen=True, slots=True)
class ClaimPage:
    """A claim with its bounds, the texts of the lesson for each result, and its result in a run (or None).

    The text for this result has the values of the run, if the run was recorded.
    """

    id: str
    sentence: str
    bounds: str
    said: Said
    result: ClaimResult | None


@dataclass(frozen=True, slots=True)
class StepPage:
    """One step of a lesson on its page for teachers.

    `pictures` are SVG texts: drawings of the lesson, and charts of its tables. `shown` are tables and texts. `photos`
    are recorded PNG pictures.
    """

    number: int
    name: str
    title: str
    minutes: int
    introduction: str
    given_code: str
    code: str
    asked: Asked | None
    claims: tuple[ClaimPage, ...]
    pictures: tuple[str, ...]
    shown: tuple[Shown, ...] = ()
    photos: tuple[Photo, ...] = ()

    @property
    def unclear(self) -> bool:
        """Whether the run could not decide a claim of this step. Then its measured answer may be wrong."""
        return any(claim.result and claim.result.verdict == "inconclusive" for claim in self.claims)


@dataclass(frozen=True)
class LessonPage:
    """One lesson as the pack shows it. `results` is None if the pack has no results of this lesson."""

    lesson: Lesson
    steps: tuple[StepPage, ...]
    tasks: tuple[TaskTexts, ...]
    recall: tuple[Recall, ...]
    terms: tuple[glossary.Term, ...]
    results: LessonResults | None

    @property
    def name(self) -> str:
        """The lesson's name, such as "04_autorange"."""
        return self.lesson.name

    @property
    def entry(self) -> LessonEntry:
        """The lesson's entry in the list of lessons, with its minutes."""
        return self.lesson.entry

    @property
    def short(self) -> str:
        """The lesson's number as a student types it, such as "4"."""
        return self.lesson.number.lstrip("0")

    @property
    def has_unknown_values(self) -> bool:
        """Whether a question or a text about a claim contains a value that the results do not have."""
        questions = [step.asked.question for step in self.steps if step.asked]
        said = [text for step in self.steps for claim in step.claims for text in astuple(claim.said)]
        return any(claim_texts.VALUE in text for text in (*questions, *said))

    @property
    def points(self) -> float:
        """The points of the lesson's exercise."""
        return sum(task.points for task in self.tasks)

    @property
    def minutes(self) -> int:
        """The minutes for the lesson and its exercise together."""
        return self.entry.minutes + (self.entry.exercise_minutes or 0)

    @cached_property
    def title(self) -> str:
        """The lesson's title."""
        return self.lesson.title


def load_all(results: Mapping[str, LessonResults]) -> dict[str, LessonPage]:
    """Return the pages of all lessons, by the lesson's name."""
    tasks, questions = task_texts.load(), recall.load()
    terms = glossary.parse(glossary_screen.FILE.read_text(encoding="utf-8")).terms
    return {
        name: page_of(
            import_module(f"lessons.{name}").lesson,
            tasks.get(name, ()),
            questions.get(name, ()),
            [term for term in terms if term.lesson == name],
            results.get(name),
        )
        for name in lesson_names()
    }


def page_of(
    lesson: Lesson,
    tasks: Sequence[TaskTexts],
    questions: Sequence[Recall],
    terms: Sequence[glossary.Term],
    results: LessonResults | None,
) -> LessonPage:
    """Return the page of one lesson from its data."""
    said = claim_texts.said_about_claims(Path(lesson.file)) if lesson.document is None else said_in(lesson)
    minutes = lesson.entry.step_minutes
    steps = tuple(
        _step(number, step, said, results, minutes[number - 1], photos_of(lesson.name, step.name))
        for number, step in enumerate(lesson.steps, start=1)
    )
    return LessonPage(lesson, steps, tuple(tasks), tuple(questions), tuple(terms), results)


def said_in(lesson: Lesson) -> dict[str, list[Said]]:
    """Return the texts of a lesson's document about each claim, with the figures of its recorded run."""
    recorded = RecordedRun.load(lesson.recorded).steps
    figures = {name: step.figures or {} for name, step in recorded.items()}
    found: dict[str, list[Said]] = {}
    for step in lesson.steps:
        if step.document and step.name in figures:
            measured = Measured(
                figures[step.name], {name: figures[name] for name in step.document.uses & figures.keys()}
            )
            found |= {id_: [Said(*texts)] for id_, texts in said(step.document, measured).items()}
    return found


def _step(
    number: int,
    step: Step[object],
    said: Mapping[str, Sequence[Said]],
    results: LessonResults | None,
    minutes: int,
    recorded_photos: tuple[Photo, ...],
) -> StepPage:
    known = results or LessonResults("", "")
    shown = known.shown.get(step.name, ())
    return StepPage(
        number=number,
        name=step.name,
        title=step.title,
        minutes=minutes,
        introduction=step.introduction,
        given_code=step.given_code,
        code=step.code,
        asked=_asked(step, known),
        claims=tuple(
            _claim(claim, said.get(claim.id, ()), known.claims.get(claim.id), known.paragraphs.get(step.name, ()))
            for claim in step.claims.values()
        ),
        pictures=charts.with_charts(known.pictures.get(step.name, ()), shown),
        shown=shown,
        photos=recorded_photos,
    )


def _claim(claim: Claim, said: Sequence[Said], result: ClaimResult | None, paragraphs: Sequence[str]) -> ClaimPage:
    texts = {
        "held": [each.held for each in said],
        "refuted": [each.refuted for each in said],
        "inconclusive": [each.unclear for each in said],
    }
    if result and result.verdict in texts:
        texts[result.verdict] = [claim_texts.filled(text, paragraphs) for text in texts[result.verdict]]
    return ClaimPage(claim.id, claim.sentence, claim.bounds, Said(*map(claim_texts.joined, texts.values())), result)


def _asked(step: Step[object], results: LessonResults) -> Asked | None:
    if step.predict is None:
        return None
    measured = results.truths.get(step.name, "")
    if isinstance(step.predict, Choice):
        measured = right_option(measured, tuple(step.predict.options.values()))
    elif measured.startswith(UNCLEAR):
        measured = ""
    measured = measured.partition(". ")[0].removesuffix(".")
    texts = (step.depends_on, step.wrong_reasoning, measured)
    if isinstance(step.predict, Choice):
        options = step.predict.options
        answer = step.predict.parse(step.expected)
        assert answer
        return Asked(step.predict.question, tuple(options.values()), "", 2.0, answer.text, *texts)
    if isinstance(step.predict, Guess):
        return Asked(step.predict.question, (), step.predict.unit, step.predict.near, step.expected, *texts)
    assert callable(step.predict)
    if step.document and step.document.question:
        asked = step.document.question
        question = results.questions.get(step.name) or asked.text.text
        return Asked(question, asked.choices, asked.guess or "", asked.near, step.expected, *texts)
    later = claim_texts.asked_later(Path(step.predict.__code__.co_filename), step.predict.__name__)
    question = results.questions.get(step.name) or later.question
    return Asked(question, later.options, "", 2.0, step.expected, *texts)


def right_option(measured: str, options: Sequence[str]) -> str:
    """Return the option with which the text of a right answer begins, or "" if it begins with none."""
    begun = measured.casefold() + "."
    fitting = [option for option in options if begun.startswith(option.casefold() + ".")]
    return max(fitting, key=len, default="")

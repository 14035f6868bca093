"""Everything that the pack says about one lesson: its steps, questions, claims, exercise and recall questions."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from importlib import import_module
from pathlib import Path

from harness import glossary
from harness.rendering.tables import Table
from lessons.engine import explain, recall
from lessons.engine import glossary as glossary_screen
from lessons.engine.catalogue import LessonEntry, lesson_names
from lessons.engine.claim import SettledClaim
from lessons.engine.document import ClaimBlock, DocumentStep, QuestionBlock, RecallBlock
from lessons.engine.explain import UNKNOWN, Explained, Photo, Picture, Said, StepFigures
from lessons.engine.figures import Figures
from lessons.engine.interval import ClaimStanding
from lessons.engine.lesson import Lesson, Step
from lessons.engine.minutes import minutes_of
from lessons.engine.predict import LETTERS, Choice, Prediction
from lessons.engine.recorded_run import RecordedRun
from lessons.guide import charts, task_texts
from lessons.guide.results import LessonResults
from lessons.guide.task_texts import TaskTexts


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a step. `block` contains its texts for instructors, and `prediction` its text for students.

    `expected` is an option, or a number with its unit. `measured` is the right answer in the results of the pack, or
    "".
    """

    block: QuestionBlock
    prediction: Prediction
    expected: str
    measured: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options, none for a guess."""
        return tuple(self.prediction.options.values()) if isinstance(self.prediction, Choice) else ()

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
        return f"{LETTERS[self.options.index(self.expected)]}, {self.expected}"


@dataclass(frozen=True, slots=True)
class ClaimPage:
    """A claim with its bounds, the texts of the lesson for each result, and its result in a run (or None)."""

    sentence: str
    bounds: str
    said: Said
    result: SettledClaim | None


@dataclass(frozen=True, slots=True)
class StepPage:
    """One step of a lesson on its page for teachers.

    `pictures` are SVG texts: drawings of the lesson, and charts of its tables. `shown` are tables, and pictures without
    SVG, such as the output of a program. `photos` are recorded PNG pictures with the paths of their files.
    """

    number: int
    name: str
    title: str
    minutes: int
    introduction: str
    codes: tuple[str, ...]
    asked: Asked | None
    claims: tuple[ClaimPage, ...]
    pictures: tuple[str, ...]
    shown: tuple[Table | Picture, ...] = ()
    photos: tuple[Photo, ...] = ()

    @property
    def unclear(self) -> bool:
        """Whether the run could not decide a claim of this step. Then its measured answer may be wrong."""
        return any(claim.result and claim.result.standing is ClaimStanding.INCONCLUSIVE for claim in self.claims)


@dataclass(frozen=True, slots=True)
class LessonPage:
    """One lesson as the pack shows it. `results` is None if the pack has no results of this lesson."""

    lesson: Lesson
    steps: tuple[StepPage, ...]
    tasks: tuple[TaskTexts, ...]
    recall: tuple[RecallBlock, ...]
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
        questions = [step.asked.prediction.question for step in self.steps if step.asked]
        said = [text for step in self.steps for claim in step.claims for text in astuple(claim.said)]
        return any(UNKNOWN in text for text in (*questions, *said))

    @property
    def points(self) -> float:
        """The points of the lesson's exercise."""
        return sum(task.points for task in self.tasks)

    @property
    def minutes(self) -> int:
        """The minutes for the lesson and its exercise together."""
        return self.entry.minutes + (self.entry.exercise_minutes or 0)

    @property
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
    questions: Sequence[RecallBlock],
    terms: Sequence[glossary.Term],
    results: LessonResults | None,
) -> LessonPage:
    """Return the page of one lesson from its data."""
    run, figures = RecordedRun.load(lesson.recorded), results.figures if results else {}
    lasted_s = {name: step.lasted_s for name, step in run.steps.items()}
    steps = tuple(
        _step(number, step, lasted_s.get(step.name, 0.0), _measured(step.document, figures), lesson.recorded)
        for number, step in enumerate(lesson.steps, start=1)
    )
    return LessonPage(lesson, steps, tuple(tasks), tuple(questions), tuple(terms), results)


def _measured(step: DocumentStep, figures: Mapping[str, Figures]) -> StepFigures | None:
    """Return the figures of a step and of the earlier steps that it uses, or None if the step has no figures."""
    if step.name not in figures:
        return None
    return StepFigures(figures[step.name], {name: figures[name] for name in step.uses & figures.keys() - {step.name}})


def _step(number: int, step: Step, lasted_s: float, measured: StepFigures | None, folder: Path) -> StepPage:
    document = step.document
    asked = explain.question(document.question, measured) if document.question and measured else None
    shown = explain.explained(document, measured, asked) if measured else Explained((), ())
    results = {claim.id: claim for claim in shown.claims}
    said = explain.said(document, measured) if measured else {each.id: _unmeasured(each) for each in document.claims}
    pictures = tuple(part.svg for part in shown.parts if isinstance(part, Picture) and part.svg)
    return StepPage(
        number=number,
        name=step.name,
        title=step.title,
        minutes=minutes_of(document, step.codes, lasted_s),
        introduction=step.introduction,
        codes=step.codes,
        asked=_asked(document.question, asked, shown) if document.question else None,
        claims=tuple(
            ClaimPage(
                each.sentence,
                explain.declared(each).bounds,
                said.get(each.id) or _unmeasured(each),
                results.get(each.id),
            )
            for each in document.claims
        ),
        pictures=(*pictures, *(charts.charts_of(document, measured) if measured else ())),
        shown=tuple(
            part for part in shown.parts if isinstance(part, Table) or (isinstance(part, Picture) and not part.svg)
        ),
        photos=tuple(
            replace(part, file=str(folder / part.file))
            for part in shown.parts
            if isinstance(part, Photo) and (folder / part.file).is_file()
        ),
    )


def _unmeasured(block: ClaimBlock) -> Said:
    return Said(*(each.without_values(UNKNOWN) if each else "" for each in (block.held, block.refuted, block.unclear)))


def _asked(block: QuestionBlock, asked: Prediction | None, shown: Explained) -> Asked:
    prediction = asked or explain.question_as(block, block.text.without_values(UNKNOWN))
    expected = prediction.parse(block.expected)
    text = expected.text if expected and isinstance(prediction, Choice) else block.expected
    return Asked(block, prediction, text, (shown.prediction.truth if shown.prediction else None) or "")

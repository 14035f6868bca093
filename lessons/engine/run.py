"""One run of a lesson: it asks the questions, runs the code of the steps, and collects the results."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.command_line import matches, one_of
from lessons.engine.conditions import Conditions
from lessons.engine.lesson import Lesson, shown_code
from lessons.engine.page import Page, Results
from lessons.engine.predict import Prediction, StudentAnswer, ask
from lessons.engine.progress import LessonProgress
from lessons.engine.record import LessonRecord, StepRecord, Unfinished
from lessons.engine.recorded_run import RecordedRun, show, show_real
from lessons.engine.screen import Screen
from lessons.engine.step import Step


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    With `fast`, the steps make short runs. With `interactive`, the run waits for the student's predictions, and for the
    Enter key after each step. `save` is called with the name and the text of each SVG picture. `keep` is called with
    the record of the run after each step. Optional steps run only with `optional`.
    """

    fast: bool
    interactive: bool
    save: Callable[[str, str], None]
    keep: Callable[[LessonRecord], None]
    optional: bool = False


@dataclass(slots=True)
class LessonSession:
    """A run of a lesson that has not ended yet.

    `earlier` is the unfinished run that this run continues, or None. `start` is the number of steps before the first
    step of this run. If `replays` is true, a step that this run cannot decide also shows its recorded run.
    """

    lesson: Lesson
    screen: Screen
    options: RunOptions
    conditions: Conditions
    earlier: Unfinished | None = None
    start: int = 0
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    began_s: float = field(default_factory=time.perf_counter)
    waited_s: float = 0.0
    replays: bool = True
    results: Results = field(init=False)
    done: list[StepRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.results = _Results(self._measure_again)

    def play(self) -> None:
        """Run each step after the first `start` steps, and print the key points.

        An interactive run waits for the student after each step. This method does not catch `EOFError` (closed input)
        and `KeyboardInterrupt` (Ctrl-C).
        """
        steps = list(enumerate(self.lesson.steps, start=1))
        for number, step in steps[self.start :]:
            chosen = self.options.optional or 0 < self.start == number - 1  # `--from` names the step
            if step.optional and not chosen:
                self.screen.left_out(number, len(steps), step.title)
                self.done.append(StepRecord(step.name, step.title, 0.0, None, ()))
                continue
            self.screen.open_step(number, len(steps), step.title, step.introduction)
            self.done.append(self._play(step))
            self.options.keep(self.record())
            self._wait()
        self.screen.closing(self.lesson.key_points, self.lesson.references)

    def record(self) -> LessonRecord:
        """Return the record of the steps that this run has finished so far."""
        record = LessonRecord(
            lesson=self.lesson.name,
            title=self.lesson.title,
            fast=self.options.fast,
            started_utc=self.started.isoformat(timespec="seconds"),
            duration_s=time.perf_counter() - self.began_s - self.waited_s,
            environment=self.conditions.environment,
            noise=self.conditions.noise,
            steps=tuple(self.done),
            complete=False,
            earlier=self.earlier,
            started_at=self.start,
        )
        return replace(record, complete=record.gapless and record.so_far.steps == len(self.lesson.steps))

    def _play(self, step: Step[object]) -> StepRecord:
        self.screen.code(step.shown_code if step.document is None else shown_code(self.lesson, step))
        page = self.page(step)
        page.prediction = step.question(page)
        if page.prediction is not None:
            page.answer = self._ask(page.prediction)
        if step.needs:
            self.results[step.needs.name]
        with self.screen.measuring(step.name, 0.0 if self.options.fast else self.usual_s(step)):
            began_s = time.perf_counter()
            result = step(fast=self.options.fast)
            duration_s = time.perf_counter() - began_s
        self.results[step.name] = result
        explain(step, page, result)
        if self.replays:
            show_recorded(self.lesson, step, page)
        return step_record(step, page, duration_s)

    def usual_s(self, step: Step[object]) -> float:
        """Return the seconds that the code of a step ran when it was recorded, or 0 without a record."""
        recorded = RecordedRun.load(self.lesson.recorded).steps.get(step.name)
        return recorded.lasted_s if recorded else 0.0

    def page(self, step: Step[object]) -> Page:
        """Return the page on which a step is explained."""

        def save(name: str, svg: str) -> None:
            self.options.save(f"{self.lesson.name}-{step.name}-{name}", svg)

        return Page(self.screen, self.conditions.noise, step.claims, self.results, save)

    def _ask(self, prediction: Prediction) -> StudentAnswer | None:
        self.screen.ask(prediction.question, prediction.offer())
        if not self.options.interactive:
            return None
        with self.waiting():
            return ask(prediction, self.screen.read, self.screen.say)

    def _wait(self) -> None:
        if self.options.interactive:
            with self.waiting():
                self.screen.wait()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Exclude the time inside the `with` block from the duration of the run."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.waited_s += time.perf_counter() - began_s

    def _measure_again(self, name: str) -> object:
        number, step = next((at, step) for at, step in enumerate(self.lesson.steps, start=1) if step.name == name)
        self.screen.note(f"Step {number} runs again because this step uses the result of step {number}.")
        return step(fast=self.options.fast)


def step_record(step: Step[object], page: Page, duration_s: float) -> StepRecord:
    """Return the record of a step whose code ran for `duration_s` seconds, and whose explanation is on `page`."""
    return StepRecord(step.name, step.title, duration_s, page.prediction_result, tuple(page.claims), page.figures)


class _Results(dict[str, object]):
    # If a result is missing, reading it runs the step.
    def __init__(self, measure: Callable[[str], object]) -> None:
        super().__init__()
        self._measure = measure

    def __missing__(self, name: str) -> object:
        self[name] = self._measure(name)
        return self[name]


def explain(step: Step[object], page: Page, result: object) -> None:
    """Print the explanation of a step for its result.

    Raise `RuntimeError` if the explanation gives a claim of the step no result, or does not print the right answer.
    """
    if step.explanation is None:
        raise RuntimeError(f"The step {step.name} has no explanation.")
    step.explanation(page, result)
    settled = sorted(each.id for each in page.claims)
    if settled != sorted(step.claims):
        raise RuntimeError(f"The step {step.name} declares the claims {sorted(step.claims)}, but it settled {settled}.")
    if page.prediction is not None and page.prediction_result is None:
        raise RuntimeError(f"The step {step.name} asks a question, but it does not reveal the answer.")


def show_recorded(lesson: Lesson, step: Step[object], page: Page) -> None:
    """Print the recorded run of a step if this run could not decide its claims, or if it only simulated a device."""
    recorded = RecordedRun.load(lesson.recorded, lesson.document).steps.get(step.name)
    if lesson.simulated:
        show_real(page.screen, recorded, step.claims)
    else:
        show(page.screen, recorded, step.claims, page.claims)


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """The start of a run of a lesson: the number of steps before it, and the unfinished run that it continues."""

    steps_before: int = 0
    earlier: Unfinished | None = None


def unfinished(lesson: Lesson, before: LessonProgress | None) -> Unfinished | None:
    """Return the unfinished run that can be continued, or None.

    If the claims of the finished steps have changed in the lesson's file, the run cannot be continued.
    """
    left = before.left if before else None
    if left is None or not 0 < left.steps < len(lesson.steps):
        return None
    return left if _ids(lesson, left.steps) == set(left.claims) else None


def step_number(lesson: Lesson, given: str) -> int:
    """Return the number of the step that `given` names. `given` is a number, a name, or the beginning of a name.

    If no step or more than one step matches, raise `UsageError` with the names of the steps.
    """
    aliases = {step.name: (step.name, str(number)) for number, step in enumerate(lesson.steps, start=1)}
    found = one_of(given, aliases, matches(given, aliases), "step")
    return list(aliases).index(found) + 1


def start_at(lesson: Lesson, number: int, left: Unfinished | None) -> StartingPoint:
    """Return the start of a run that begins at step `number`.

    If the unfinished run `left` has finished all steps before `number`, the new run continues it.
    """
    before = number - 1
    if left is None or left.steps < before:
        return StartingPoint(before)
    claims = {id_: standing for id_, standing in left.claims.items() if id_ in _ids(lesson, before)}
    return StartingPoint(before, Unfinished(before, claims) if before else None)


def _ids(lesson: Lesson, steps: int) -> set[str]:
    return {id_ for step in lesson.steps[:steps] for id_ in step.claims}

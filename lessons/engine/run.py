"""One run of a lesson: it asks the questions, runs the code of the steps, and collects the results."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.command_line import matches, one_of
from lessons.engine.conditions import Conditions
from lessons.engine.explain import Picture, explained
from lessons.engine.lesson import Lesson, Results, Step
from lessons.engine.predict import Prediction, StudentAnswer, ask
from lessons.engine.progress import LessonProgress
from lessons.engine.record import LessonRecord, StepRecord, Unfinished
from lessons.engine.recorded_run import RecordedRun
from lessons.engine.screen import Screen


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    With `fast`, the steps make short runs. With `interactive`, the run waits for the student's predictions, and for the
    Enter key after each step. `save` is called with the name and the text of each SVG picture. `keep` is called with
    the record of the run after each step. Optional steps run only with `optional`.
    """

    fast: bool = False
    interactive: bool = False
    save: Callable[[str, str], None] = lambda _name, _svg: None
    keep: Callable[[LessonRecord], None] = lambda _record: None
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
    recorded: RecordedRun = field(init=False)
    done: list[StepRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.results = _Results(self._measure_again)
        self.recorded = RecordedRun.load(self.lesson.recorded)

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
                self.done.append(StepRecord(step.name, step.title))
                continue
            self.screen.open_step(number, len(steps), step.title, step.introduction)
            self.done.append(self._play(step))
            self.options.keep(self.record())
            if self.options.interactive:
                with self.waiting():
                    self.screen.wait()
        self.screen.closing(self.lesson.document.key_points, self.lesson.document.references)

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

    def _play(self, step: Step) -> StepRecord:
        self.screen.code(self.lesson.shown_code(step))
        prediction = self.question(step)
        answer = self._ask(prediction) if prediction else None
        if step.document.needs:
            self.results[step.document.needs]
        with self.screen.measuring(step.name, 0.0 if self.options.fast else self.usual_s(step)):
            began_s = time.perf_counter()
            result = step(fast=self.options.fast)
            duration_s = time.perf_counter() - began_s
        return self.explain(step, result, prediction, answer, duration_s)

    def question(self, step: Step) -> Prediction | None:
        """Return the question of a step, or None. It can contain figures of earlier steps, which then run again."""
        return self.lesson.question(step, self.conditions.noise, self.results)

    def explain(
        self,
        step: Step,
        result: object,
        prediction: Prediction | None,
        answer: StudentAnswer | None,
        duration_s: float,
    ) -> StepRecord:
        """Print and explain the result of a step, and return the record of the step."""
        self.results[step.name] = result
        measured = self.lesson.measured(step, self.conditions.noise, self.results)
        shown = explained(step.document, measured, prediction, answer)
        for part in shown.parts:
            self.screen.show(part, self.lesson.recorded)
            if isinstance(part, Picture) and part.svg:
                self.options.save(f"{self.lesson.name}-{step.name}-{part.name}", part.svg)
        if self.replays and (replayed := self.recorded.replayed(step.document, shown.claims, self.lesson.simulated)):
            with self.screen.quoted(replayed.heading):
                for part in replayed.parts:
                    self.screen.show(part, self.lesson.recorded)
        return StepRecord(step.name, step.title, duration_s, shown.prediction, shown.claims, measured.figures)

    def usual_s(self, step: Step) -> float:
        """Return the seconds that the code of a step ran when it was recorded, or 0 without a record."""
        recorded = self.recorded.steps.get(step.name)
        return recorded.lasted_s if recorded else 0.0

    def _ask(self, prediction: Prediction) -> StudentAnswer | None:
        self.screen.ask(prediction.question, prediction.offer())
        if not self.options.interactive:
            return None
        with self.waiting():
            return ask(prediction, self.screen.read, self.screen.say)

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


class _Results(dict[str, object]):
    # If a result is missing, reading it runs the step.
    def __init__(self, measure: Callable[[str], object]) -> None:
        super().__init__()
        self._measure = measure

    def __missing__(self, name: str) -> object:
        self[name] = self._measure(name)
        return self[name]


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


def continued(lesson: Lesson, number: int, left: Unfinished | None) -> Unfinished | None:
    """Return the part of the unfinished run `left` that a run from step `number` continues, or None.

    The new run continues `left` if `left` has finished all steps before `number`.
    """
    before = number - 1
    if left is None or not 0 < before <= left.steps:
        return None
    return Unfinished(before, {id_: left.claims[id_] for id_ in left.claims if id_ in _ids(lesson, before)})


def _ids(lesson: Lesson, steps: int) -> set[str]:
    return {claim.id for step in lesson.steps[:steps] for claim in step.document.claims}

"""A lesson, played from first line to last: the imperative shell around steps, pages and the screen."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lessons.engine.lesson import Lesson, Step
from lessons.engine.page import Page, Results
from lessons.engine.predict import Answer, Prediction, ask
from lessons.engine.record import LessonRecord, StepRecord, Unfinished
from lessons.engine.screen import Screen
from lessons.engine.today import Today


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run goes: `fast` shortens every step, `interactive` waits for predictions and after each result.

    `save` takes the name and text of each SVG picture, `keep` what has happened so far, after every step.
    """

    fast: bool
    interactive: bool
    save: Callable[[str, str], None]
    keep: Callable[[LessonRecord], None]


@dataclass(slots=True)
class Session:
    """One run of a lesson in the making; `record()` may be asked at any time and says if it is complete.

    A run with an `earlier` one goes on with the step after it.
    """

    lesson: Lesson
    screen: Screen
    settings: Settings
    today: Today
    started: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    began_s: float = field(default_factory=time.perf_counter)
    waited_s: float = 0.0
    earlier: Unfinished | None = None
    results: Results = field(init=False)
    done: list[StepRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.results = _Results(self._measure_again)

    def play(self) -> None:
        """Play every step that is not done yet and print the closing words; wait for the reader after each result.

        A prompt's `EOFError` and Ctrl-C pass through.
        """
        steps = list(enumerate(self.lesson.steps, start=1))
        for number, step in steps[self.earlier.steps if self.earlier else 0 :]:
            self.screen.open_step(number, len(steps), step.title, step.introduction)
            self.done.append(self._play(step))
            self.settings.keep(self.record())
            self._wait()
        self.screen.closing(self.lesson.key_points, self.lesson.references)

    def record(self) -> LessonRecord:
        """Return what has happened so far."""
        return LessonRecord(
            lesson=self.lesson.name,
            title=self.lesson.title,
            fast=self.settings.fast,
            started_utc=self.started.isoformat(timespec="seconds"),
            duration_s=time.perf_counter() - self.began_s - self.waited_s,
            environment=self.today.environment,
            noise=self.today.noise,
            steps=tuple(self.done),
            complete=(self.earlier.steps if self.earlier else 0) + len(self.done) == len(self.lesson.steps),
            earlier=self.earlier,
        )

    def _play(self, step: Step[object]) -> StepRecord:
        if step.given:
            self.screen.code(step.given_code)
        self.screen.code(step.code)
        page = self._page(step)
        page.prediction = step.question(page)
        if page.prediction is not None:
            page.answer = self._ask(page.prediction)
        if step.needs:
            self.results[step.needs.name]
        began_s = time.perf_counter()
        result = step(fast=self.settings.fast)
        duration_s = time.perf_counter() - began_s
        self.results[step.name] = result
        explain(step, page, result)
        return StepRecord(step.name, step.title, duration_s, page.prophecy, tuple(page.claims))

    def _page(self, step: Step[object]) -> Page:
        def save(name: str, svg: str) -> None:
            self.settings.save(f"{self.lesson.name}-{step.name}-{name}", svg)

        return Page(self.screen, self.today.noise, step.claims, self.results, save)

    def _ask(self, prediction: Prediction) -> Answer | None:
        self.screen.ask(prediction.question, prediction.offer())
        if not self.settings.interactive:
            return None
        with self._waiting():
            return ask(prediction, self.screen.read, self.screen.say)

    def _wait(self) -> None:
        if self.settings.interactive:
            with self._waiting():
                self.screen.wait()

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Count the time as the reader's."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.waited_s += time.perf_counter() - began_s

    def _measure_again(self, name: str) -> object:
        """Return the result of a step that an earlier run did: its claims are kept, what it measured is not."""
        number, step = next((at, step) for at, step in enumerate(self.lesson.steps, start=1) if step.name == name)
        self.screen.note(f"Step {number} runs again, because this step uses what it measures.")
        return step(fast=self.settings.fast)


class _Results(dict[str, object]):
    """The results of the steps by name; one that is missing is measured when it is asked for."""

    def __init__(self, measure: Callable[[str], object]) -> None:
        super().__init__()
        self._measure = measure

    def __missing__(self, name: str) -> object:
        self[name] = self._measure(name)
        return self[name]


def explain(step: Step[object], page: Page, result: object) -> None:
    """Let a step's author explain `result`, and hold them to their word.

    Raises `RuntimeError`, a fault of the lesson, when a declared claim was not settled exactly once or a
    question was left open: nothing that a lesson promises to measure may go missing quietly.
    """
    if step.explanation is None:
        raise RuntimeError(f"The step {step.name} has nothing that observes its result.")
    step.explanation(page, result)
    settled = sorted(claim.id for claim in page.claims)
    if settled != sorted(step.claims):
        raise RuntimeError(f"The step {step.name} declares the claims {sorted(step.claims)} and settled {settled}.")
    if page.prediction is not None and page.prophecy is None:
        raise RuntimeError(f"The step {step.name} asks a question and never reveals the answer.")

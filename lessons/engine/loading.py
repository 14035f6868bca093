"""Load a lesson: its document, and the functions beside it that the document names."""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar, cast

from lessons.engine.claim import Claim
from lessons.engine.document import DocumentStep
from lessons.engine.explain import Measured, explained, question
from lessons.engine.figures import Figures, Lacking
from lessons.engine.lesson import Lesson
from lessons.engine.page import Page, Results
from lessons.engine.parsing import load as load_document
from lessons.engine.predict import Prediction
from lessons.engine.source import defaults_of
from lessons.engine.step import Step
from lessons.engine.templates import formatter

R = TypeVar("R")
Compute = Callable[..., Figures | Lacking]


@dataclass(frozen=True, slots=True)
class Run:
    """What the functions that compute figures know about the run beside the result of their step.

    `noise` is the machine's noise as a fraction. In 95 % of comparisons of a function with itself, the two times differ
    by less than `noise`.
    """

    noise: float
    results: Results

    def result(self, step: Callable[..., R]) -> R:
        """Return the result of an earlier step, named by its function."""
        return cast("R", self.results[step.__name__])


@dataclass(frozen=True, slots=True)
class Figured:
    """A step whose function `NAME_figures` computes its figures from its result."""

    step: DocumentStep
    compute: Compute

    def figures(self, noise: float, results: Results) -> Figures | Lacking:
        """Return the figures for the result of the step. `NAME_figures` takes the result, and perhaps a `Run`."""
        result = results[self.step.name]
        if len(inspect.signature(self.compute).parameters) == 1:
            return self.compute(result)
        return self.compute(result, Run(noise, results))


Recorder = Callable[[Path], list[Path]]


def load(
    module_name: str, *, simulated: str = "", note: str = "", recorder: Recorder | None = None, language: str = ""
) -> Lesson:
    """Return the lesson of a module. Its document is the file beside it, `NAME.md`, or `NAME.ko.md` in Korean.

    `simulated` names the device that the lesson simulates on this machine, and `note` is printed before the objective.
    Raise `DocumentError` if the document has a mistake, or names a function that the module does not have.
    """
    module = sys.modules[module_name]
    file = Path(str(module.__file__))
    document = load_document(file.with_suffix(f".{language}.md" if language else ".md"))
    lesson = Lesson(
        str(file),
        document.header["objective"],
        key_points=document.key_points,
        references=document.references,
        simulated=simulated,
        note=note,
        before_class=document.header.get("before_class", ""),
        recorder=recorder,
        document=document,
        language=language,
        translate=lambda other: load(module_name, simulated=simulated, note=note, recorder=recorder, language=other),
    )
    figured = {
        step.name: Figured(step, cast("Compute", _named(module, step, f"{step.name}_figures")))
        for step in document.steps
    }
    for step in document.steps:
        lesson.steps.append(_step(lesson, module, step, figured))
    return lesson


def _named(module: ModuleType, step: DocumentStep, name: str) -> Callable[..., object]:
    found = getattr(module, name, None)
    if not callable(found):
        raise step.place.error(f"{Path(str(module.__file__)).name} has no function {name}.")
    return cast("Callable[..., object]", found)


def _step(lesson: Lesson, module: ModuleType, step: DocumentStep, figured: Mapping[str, Figured]) -> Step[object]:
    *given, function = (_named(module, step, name) for name in step.code)
    if unknown := step.fast.keys() - defaults_of(function).keys():
        raise step.place.error(f"{step.name} has no parameter {', '.join(sorted(unknown))} with a default.")

    def measured(page: Page, *, own: bool) -> Measured:
        used = step.uses & (figured.keys() - {step.name})
        earlier = {name: figured[name].figures(page.noise, page.results) for name in used}
        return Measured(figured[step.name].figures(page.noise, page.results) if own else {}, earlier)

    def ask(page: Page) -> Prediction:
        assert step.question
        return question(step.question, measured(page, own=False))

    def explain(page: Page, result: object) -> None:
        page.results[step.name] = result
        found = measured(page, own=True)
        page.figures = found.figures
        for part in explained(step, found, page.prediction, page.answer).parts:
            page.show(part, lesson.recorded)

    asked = step.question
    fixed = asked and asked.text.is_fixed
    predict = ask if asked and not fixed else question(asked, Measured({})) if asked else None
    claims = {
        each.id: Claim(each.id, each.sentence, *each.condition.fixed, formatter(each.unit, each.place))
        for each in step.claims
    }
    return Step(
        function,
        step.title,
        step.fast,
        predict,
        tuple(given),
        expected=asked.expected if asked else "",
        depends_on=asked.depends_on if asked else "",
        wrong_reasoning=asked.wrong_reasoning if asked else "",
        needs=next((each for each in lesson.steps if each.name == step.needs), None),
        claims=claims,
        explanation=explain,
        document=step,
        optional=step.optional,
    )

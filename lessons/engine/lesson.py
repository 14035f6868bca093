"""A lesson: its document and the functions that it names. `lessons/README.md` explains how to write one."""

import inspect
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from harness.errors import UsageError
from lessons.engine import explain
from lessons.engine.catalogue import LessonEntry, entry_of
from lessons.engine.document import Document, DocumentStep
from lessons.engine.explain import StepFigures
from lessons.engine.figures import Figures, Lacking
from lessons.engine.predict import Prediction
from lessons.engine.source import imports_of, read_functions

R = TypeVar("R")
Results = MutableMapping[str, object]
"""The results of the steps, by the name of the step."""

Compute = Callable[..., Figures | Lacking]
Recorder = Callable[[Path], list[Path]]


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
class Step:
    """One step of a lesson: its part of the document, its code, and the function that computes its figures.

    `file` is the Python file of the lesson.
    """

    file: Path
    document: DocumentStep
    function: Callable[..., object]
    compute: Compute

    @property
    def name(self) -> str:
        """The name of the step's function, unique in its lesson."""
        return self.document.name

    @property
    def title(self) -> str:
        """The title of the step."""
        return self.document.title

    @property
    def optional(self) -> bool:
        """Whether the step runs only with `--all`."""
        return self.document.optional

    @property
    def introduction(self) -> str:
        """The text above the code, with an empty line between two paragraphs."""
        return "\n\n".join(self.document.introduction)

    @property
    def codes(self) -> tuple[str, ...]:
        """The code of each shown function and class, as the screen shows it. The step's own function is the last."""
        return tuple(read_functions(self.file)[name] for name in self.document.code)

    def __call__(self, *, fast: bool = False) -> object:
        """Run the code of the step and return its result. If `fast` is true, use the arguments of the short run."""
        return self.function(**(self.document.fast if fast else {}))

    def figures(self, noise: float, results: Results) -> Figures | Lacking:
        """Return the figures for the result of the step."""
        result = results[self.name]
        if len(inspect.signature(self.compute).parameters) == 1:
            return self.compute(result)
        return self.compute(result, Run(noise, results))


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson. Its title and minutes are in `lessons.toml`.

    `file` is its Python file. `recorder` writes other recorded data than figures into a folder, and returns the written
    files. `simulated` names the device that the lesson simulates on this machine, such as "GPU", or is "". `note` is
    printed before the objective, and describes this machine. `language` is "" for English. `translate` loads the lesson
    in another language.
    """

    file: Path
    document: Document
    steps: tuple[Step, ...]
    recorder: Recorder | None
    simulated: str
    note: str
    language: str
    translate: Callable[[str], "Lesson"]

    @property
    def name(self) -> str:
        """The name of the lesson in commands, such as "04_autorange"."""
        return self.file.stem

    @property
    def title(self) -> str:
        """The title of the lesson."""
        return self.document.header.get("title") or self.entry.title

    @property
    def number(self) -> str:
        """The number at the beginning of the lesson's name, such as "04"."""
        return self.entry.number

    @property
    def opening(self) -> str:
        """The first text of the lesson: its note about this machine, if there is one, and its objective."""
        return f"{self.note} {self.document.header['objective']}".strip()

    @property
    def recorded(self) -> Path:
        """The folder of the data that `--record` has recorded on the machine of a maintainer."""
        return self.file.parent / "recorded" / self.name

    @cached_property
    def entry(self) -> LessonEntry:
        """The entry of this lesson in the list of lessons, with its title and the minutes that a student needs."""
        return entry_of(self.name)

    def step(self, name: str) -> Step:
        """Return a step by its name. Raise `UsageError` with the names of all steps if there is none."""
        for step in self.steps:
            if step.name == name:
                return step
        raise UsageError(f"The lesson has no step {name}. Its steps: {', '.join(step.name for step in self.steps)}.")

    def translated(self, language: str) -> "Lesson":
        """Return this lesson in a language, such as "ko". Raise `UsageError` if there is no such translation."""
        if language == self.language:
            return self
        known = [file.name.split(".")[1] for file in sorted(self.file.parent.glob(f"{self.name}.*.md"))]
        if language not in known:
            found = f"Translations: {', '.join(known)}." if known else "It is only there in English."
            raise UsageError(f"Lesson {self.number} has no translation into {language!r}. {found}")
        return self.translate(language)

    def measured(self, step: Step, noise: float, results: Results, *, own: bool = True) -> StepFigures:
        """Return the figures of a step, or without `own` only those of earlier steps that its texts use."""
        names = step.document.uses & ({each.name for each in self.steps} - {step.name})
        earlier = {name: self.step(name).figures(noise, results) for name in names}
        return StepFigures(step.figures(noise, results) if own else {}, earlier)

    def question(self, step: Step, noise: float, results: Results) -> Prediction | None:
        """Return the question of a step, or None. Its text can contain figures of earlier steps."""
        asked = step.document.question
        return explain.question(asked, self.measured(step, noise, results, own=False)) if asked else None

    def shown_code(self, step: Step) -> str:
        """Return the code that the screen shows for a step: the imports that no earlier step shows, and its code."""
        earlier = "\n".join(code for each in self.steps[: self.steps.index(step)] for code in each.codes)
        code = "\n\n".join(step.codes)
        return "\n\n".join(filter(None, (imports_of(self.file, needed_by=code, known=earlier), code)))

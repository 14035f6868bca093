"""A lesson: its steps, its claims and its texts. `lessons/README.md` explains how to write one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import UsageError
from lessons.engine.catalogue import LessonEntry, entry_of
from lessons.engine.document import Document
from lessons.engine.source import code_of, defaults_of, imports_of
from lessons.engine.step import Number, Question, R, Step

Given = TypeVar("Given", bound=Callable[..., object])


@dataclass(eq=False)
class Lesson:
    """A lesson. Python adds its steps when it imports the lesson's file. Its title and minutes are in `lessons.toml`.

    The option `--record` saves what each step shows. It also runs `recorder`, if there is one. `recorder` writes other
    recorded data into a folder and returns the written files. `simulated` names the device that the lesson simulates on
    this machine, such as "GPU". It is "" if the lesson simulates nothing.

    `translate` loads the lesson in another language.

    `note` is printed before the objective. It describes this machine. `before_class` is a text for instructors about
    any machine: what a class needs to know about the device of the lesson. Only the teacher's pack shows it.
    """

    file: str
    objective: str
    steps: list[Step[object]] = field(default_factory=list)
    key_points: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    recorder: Callable[[Path], list[Path]] | None = None
    simulated: str = ""
    note: str = ""
    before_class: str = ""
    document: Document | None = None
    language: str = ""
    translate: "Callable[[str], Lesson] | None" = None
    _given: list[Callable[..., object]] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the lesson in commands, such as "04_autorange"."""
        return Path(self.file).stem

    @property
    def title(self) -> str:
        """The title of the lesson."""
        return (self.document.header.get("title") if self.document else None) or self.entry.title

    @property
    def number(self) -> str:
        """The number at the beginning of the lesson's name, such as "04"."""
        return self.name.partition("_")[0]

    @property
    def opening(self) -> str:
        """The first text of the lesson: its note about this machine, if there is one, and its objective."""
        return f"{self.note} {self.objective}".strip()

    @property
    def recorded(self) -> Path:
        """The folder of the data that `--record` has recorded on the machine of a maintainer."""
        return Path(self.file).parent / "recorded" / self.name

    @cached_property
    def entry(self) -> LessonEntry:
        """The entry of this lesson in the list of lessons, with its title and the minutes that a student needs."""
        return entry_of(self.name)

    def translated(self, language: str) -> "Lesson":
        """Return this lesson in a language, such as "ko". Raise `UsageError` if there is no such translation."""
        if language == self.language:
            return self
        known = [file.name.split(".")[1] for file in sorted(Path(self.file).parent.glob(f"{self.name}.*.md"))]
        if language not in known or self.translate is None:
            found = f"Translations: {', '.join(known)}." if known else "It is only there in English."
            raise UsageError(f"Lesson {self.number} has no translation into {language!r}. {found}")
        return self.translate(language)

    def given(self, thing: Given) -> Given:
        """Decorate a function or a Python class that the next step uses. The screen shows it with that step's code."""
        self._given.append(thing)
        return thing

    def step(
        self,
        title: str,
        *,
        predict: Question = None,
        expected: str = "",
        depends_on: str = "",
        wrong_reasoning: str = "",
        fast: Mapping[str, Number] | None = None,
        needs: Step[Any] | None = None,
    ) -> Callable[[Callable[..., R]], Step[R]]:
        """Decorate the teaching code of the next step.

        A question needs `expected`: the answer that the lesson expects, as a student would type it. If other machines
        can give another answer, `depends_on` names what it depends on, such as "the number of cores".
        `wrong_reasoning` is a sentence or two: the reasoning with which students often answer the question wrongly, and
        why it fails. Only the teacher's pack shows these three texts.

        `fast` gives the arguments of the short run. `needs` is an earlier step whose code writes a file for this step.
        A run that starts at this step runs the step `needs` too. Raise `TypeError` if the function has no parameter
        that `fast` names, or if `expected` is not an answer to the question.
        """

        def build(function: Callable[..., R]) -> Step[R]:
            unknown = set(fast or {}) - set(defaults_of(function))
            if unknown:
                raise TypeError(f"{function.__name__} has no parameter {', '.join(sorted(unknown))} with a default.")
            step = Step(
                function,
                title,
                dict(fast or {}),
                predict,
                tuple(self._given),
                expected=expected,
                depends_on=depends_on,
                wrong_reasoning=wrong_reasoning,
                needs=needs,
                ids=self._ids,
            )
            self._given.clear()
            self.steps.append(step)  # type: ignore[arg-type]  # a list of steps with results of all types
            return step

        return build


def shown_code(lesson: Lesson, step: Step[object]) -> str:
    """Return the code that the screen shows for a step: the imports that no earlier step shows, and its code."""
    code = whole_code(step)
    earlier = "\n".join(map(whole_code, lesson.steps[: lesson.steps.index(step)]))
    imports = imports_of(Path(lesson.file), needed_by=code, known=earlier)
    return "\n\n".join(filter(None, (imports, code)))


def whole_code(step: Step[object]) -> str:
    """Return the code of a step without its imports."""
    return "\n\n".join(code_of(thing) for thing in (*step.given, step.function))

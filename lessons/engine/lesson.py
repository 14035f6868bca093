'''A lesson, and how to write one.

A lesson is one file, `lessons/NN_name.py`. Its steps appear on the screen in the order of the file. This is a complete
lesson of one step:

    from time import perf_counter
    from typing import NamedTuple

    import torch

    from harness.rendering import units
    from lessons.engine import Choice, Interval, Lesson, Page
    from lessons.engine.command import main

    lesson = Lesson(
        __file__,
        title="What does a sum cost?",
        objective="You can compare two ways to add numbers.",
    )


    @lesson.given
    class Turn(NamedTuple):
        by_python: float
        by_torch: float


    @lesson.step(
        "A sum in Python and in torch",
        predict=Choice.ranges("What is the time of `sum` divided by the time of `torch.sum`?", (2, 20), units.ratio),
        expected="c",
        fast={"turns": 3},
    )
    def two_sums(turns: int = 9) -> list[Turn]:
        """We add the same numbers twice, with Python's `sum` and with `torch.sum`."""
        numbers = torch.rand(10_000)
        plain, result = numbers.tolist(), []
        for _ in range(turns):
            start = perf_counter()
            sum(plain)
            middle = perf_counter()
            numbers.sum()
            result.append(Turn(middle - start, perf_counter() - middle))
        return result


    TORCH_WINS = two_sums.claim("torch-wins", "`torch.sum` is faster than `sum`", at_least=1, unit=units.ratio)


    @two_sums.explain
    def _(page: Page, turns: list[Turn]) -> None:
        times = Interval.every(turn.by_python / turn.by_torch for turn in turns)
        page.reveal(times)
        page.settle(TORCH_WINS, times)
        page.say(
            TORCH_WINS.words(
                held="`torch.sum` was faster in each repetition.",
                refuted="`sum` was faster in each repetition.",
                unclear="The repetitions disagree, so this run does not show which sum is faster.",
            ),
        )


    lesson.key_points = ("…", "…", "…")
    lesson.references = ("Python, `sum`: docs.python.org/3/library/functions.html#sum",)

    if __name__ == "__main__":
        main(lesson)

Rules:

- The variable has the name `lesson`.
- The screen shows the step's function, the code that `@lesson.given` decorates just before it, and the imports that
  this code needs. Students can paste the shown code, so it uses nothing else from the file.
- The docstring of the function is printed above the code.
- The function has only those parameters that `fast` changes. It returns a NamedTuple or a frozen dataclass if its
  result has several parts.
- The explanation settles each claim of its step exactly once. A text that depends on a claim has a version for each
  result: held, refuted, and unclear.
- Each result of a comparison is an `Interval`, so that noise can make the result unclear.
'''

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from lessons.engine.catalogue import LONGEST_S, Entry, entry_of
from lessons.engine.source import defaults_of
from lessons.engine.step import Number, Question, R, Step

Given = TypeVar("Given", bound=Callable[..., object])


@dataclass(eq=False)
class Lesson:
    """A lesson. Python adds its steps when it imports the lesson's file.

    `prerequisites` are the names of the lessons that a student should take before this lesson. `longest_s` are the
    longest times in seconds of a usual and of a short run. The header shows these times until a run on this machine is
    complete. `title` and these two arguments are literals, because the list of lessons does not import the file.

    The option `--record` saves what each step shows. It also runs `recorder`, if there is one. `recorder` writes other
    recorded data into a folder and returns the written files. `simulated` names the device that the lesson simulates on
    this machine, such as "GPU". It is "" if the lesson simulates nothing.

    `note` is printed before the objective. It describes this machine. `before_class` is a text for instructors about
    any machine: what a class needs to know about the device of the lesson. Only the teacher's pack shows it.
    """

    file: str
    title: str
    objective: str
    prerequisites: tuple[str, ...] = ()
    longest_s: tuple[int, int] = LONGEST_S
    steps: list[Step[object]] = field(default_factory=list)
    key_points: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    recorder: Callable[[Path], list[Path]] | None = None
    simulated: str = ""
    note: str = ""
    before_class: str = ""
    _given: list[Callable[..., object]] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the lesson in commands, such as "04_autorange"."""
        return Path(self.file).stem

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
    def entry(self) -> Entry:
        """The entry of this lesson in the list of lessons. It contains the minutes that a student needs."""
        return entry_of(Path(self.file))

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

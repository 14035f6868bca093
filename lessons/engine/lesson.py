"""What a lesson is made of, and how its author writes it down.

A lesson file reads top to bottom as it will be seen on the screen:

    lesson = Lesson(__file__, title="…", objective="…", minutes=12)

    @lesson.given
    def mul_sum(a, b): …                       # code that the next step uses, shown just before it

    @lesson.step(
        "One long run",
        predict=Choice("How many calls …?", {"a": "…", "b": "…"}),
        claims={"long-enough": "one run lasts 0.2 s"},
        fast={"seconds": 0.1},
    )
    def one_long_run(seconds=0.5): …           # the teaching code; its docstring is printed above it

    @one_long_run.observe
    def explain(page, result): page.say(…); page.reveal("b"); page.claim("long-enough", …)

    lesson.take_along("…", "…", "…")
    lesson.read_on("…")

    if __name__ == "__main__":
        lesson.main()

The variable is called `lesson`, always. A step's function takes keyword arguments only for what `fast`
shortens. It imports nothing from the engine, so that its source runs in a notebook as it stands. Each claim
declared at its step must be settled by `observe`, each time.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from lessons.engine.page import Page
from lessons.engine.predict import Prediction
from lessons.engine.source import code_of, defaults_of, prose_of

R = TypeVar("R")
Given = TypeVar("Given", bound=Callable[..., object])
Number = int | float
Question = Prediction | Callable[[Page], Prediction] | None
"""A question, or how to make one from what the steps before have measured; None asks nothing."""


@dataclass(eq=False, slots=True)
class Step(Generic[R]):
    """One step: teaching code that gives an `R`, a question before it, and an explanation after it.

    `claims` maps the id of each claim to its sentence; `fast` holds the arguments of the short run; `given`
    are the functions and classes shown before this step. `needs` is an earlier step whose run leaves a file behind that
    this step reads.
    """

    function: Callable[..., R]
    title: str
    claims: Mapping[str, str]
    fast: Mapping[str, Number]
    predict: Question
    given: tuple[Callable[..., object], ...]
    needs: "Step[Any] | None" = None
    explanation: Callable[[Page, R], None] | None = None

    @property
    def name(self) -> str:
        """The name of the step's function, unique in its lesson."""
        return self.function.__name__

    @property
    def code(self) -> str:
        """The teaching code as it runs, without decorators and docstring."""
        return code_of(self.function)

    @property
    def given_code(self) -> str:
        """The code shown before this step's own; empty where there is none."""
        return "\n\n\n".join(code_of(thing) for thing in self.given)

    @property
    def introduction(self) -> str:
        """The paragraphs printed above the code."""
        return prose_of(self.function)

    def __call__(self, *, fast: bool = False) -> R:
        """Run the teaching code, at its usual length or its short one."""
        return self.function(**(self.fast if fast else {}))

    def question(self, page: Page) -> Prediction | None:
        """Return what is asked before this step, or None; `page` knows the results of earlier steps."""
        return self.predict(page) if callable(self.predict) else self.predict

    def observe(self, explanation: Callable[[Page, R], None]) -> Callable[[Page, R], None]:
        """Decorate the function that shows the result, settles the claims, and explains what came out."""
        self.explanation = explanation
        return explanation


@dataclass(eq=False)
class Lesson:
    """A lesson under construction, and complete once its file has been read to the end.

    `longest_s` is what a usual and a short run may take at most, shown until this reader's own machine has timed one.
    """

    file: str
    title: str
    objective: str
    minutes: int
    longest_s: tuple[int, int] = (20, 5)
    steps: list[Step[object]] = field(default_factory=list)
    key_points: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    _given: list[Callable[..., object]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name it is run by, such as "04_autorange"."""
        return Path(self.file).stem

    @property
    def number(self) -> str:
        """Its number in the curriculum, as in its name."""
        return self.name.partition("_")[0]

    def given(self, thing: Given) -> Given:
        """Decorate a function or class that the next step uses; it is shown before that step's code."""
        self._given.append(thing)
        return thing

    def step(
        self,
        title: str,
        *,
        claims: Mapping[str, str],
        predict: Question = None,
        fast: Mapping[str, Number] | None = None,
        needs: Step[Any] | None = None,
    ) -> Callable[[Callable[..., R]], Step[R]]:
        """Decorate the teaching code of the next step.

        `fast` gives the arguments of the short run; a name that is no parameter of the function with a
        default is a `TypeError` at once, as is a claim whose id an earlier step has. `needs` names the step that is run
        again when the reader goes on from here: one that leaves a file for this step.
        """

        def build(function: Callable[..., R]) -> Step[R]:
            unknown = set(fast or {}) - set(defaults_of(function))
            if unknown:
                raise TypeError(f"{function.__name__} takes no argument {', '.join(sorted(unknown))} to shorten.")
            taken = {id_ for step in self.steps for id_ in step.claims} & set(claims)
            if taken:
                raise TypeError(f"{function.__name__}: an earlier step has the claim {', '.join(sorted(taken))}.")
            step = Step(function, title, dict(claims), dict(fast or {}), predict, tuple(self._given), needs)
            self._given.clear()
            self.steps.append(step)  # type: ignore[arg-type]  # a list of steps of every result type
            return step

        return build

    def take_along(self, *key_points: str) -> None:
        """Set the three key points printed at the end."""
        self.key_points = key_points

    def read_on(self, *references: str) -> None:
        """Set the references printed at the end."""
        self.references = references

    def main(self) -> None:
        """Run the lesson as a command, and end the process with its exit code."""
        from lessons.engine.command import run_command  # noqa: PLC0415 - the command knows the lesson, not the reverse

        sys.exit(run_command(self, sys.argv[1:]))

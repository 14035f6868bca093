"""The types that describe a task. In a task, a student writes a function that gives right answers at a low cost.

An exercise is one lesson's file for the student to fill in, with one or more tasks. A task has an *exam* (how answers
are judged and the cost is measured), a baseline with which the cost is compared, and tiers (ratios that earn points).

The folder `known/<task>/` holds example submissions, one per file, which `grader lint` grades. A file may import
definitions from another file of the folder (`grader.overlays`). A file's name states its expected result:

    baseline.py      right, reaches no tier
    baseline_*.py    the same, for one of the timed sizes (`TensorExam.baselines`)
    tier<k>_*.py     right, reaches exactly tier k
    wrong_*.py       wrong; its docstring explains the mistake to students whose function gives the same answers
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from grader import overlays, seeds
from grader.limits import Limits
from grader.records import Cost
from grader.values import Value

ONE_LINE: Final = 90  # characters of a description; a longer one with a remark is shown on two lines

Array = NDArray[Any]
"""A NumPy array of any dtype."""

Inputs = tuple[Array, ...]

Drawing = Callable[[Iterator[np.random.Generator]], Iterator[Inputs]]
"""A function that yields random inputs of one size without end, each from the next generator (`seeds.independent`)."""


def endless(draw: Callable[[np.random.Generator], Inputs]) -> Drawing:
    """Return a `Drawing` that draws each of its inputs with `draw`."""
    return lambda rngs: map(draw, rngs)


@dataclass(frozen=True, slots=True)
class Tier:
    """A grade threshold: a submission earns `share` of the points if its ratio is at least `ratio`.

    A submission's ratio is the baseline's cost divided by the submission's cost.
    """

    ratio: float
    share: float


def tier_of(ratio: float, tiers: Sequence[Tier]) -> int:
    """Return how many of the grade thresholds `tiers` a ratio reaches."""
    return sum(ratio >= tier.ratio for tier in tiers)


@dataclass(frozen=True)
class TensorExam:
    """The tests for a student's function that takes tensors and returns one tensor.

    `cases(rng)` returns the test cases for correctness: tuples of NumPy arrays, one array per parameter. An array may
    be empty, a strided view, or a view of another array's memory. No stride may be negative, because torch has no such
    tensors. `timed(rngs)` yields new inputs of the timed size without end, all with the same strides. It must be fast,
    because hundreds of inputs are drawn during a measurement. `oracle(*inputs)` returns the right answer in float64.
    `allowed(*inputs)` returns the absolute error allowed for each element of the answer. The answer must have the dtype
    of the first input.

    `also_timed` are further timed sizes, for a function that must be fast at every size. Each size is measured
    separately, and the worst ratio decides (`grader.kinds.timing`). `baselines` are the names of files in `known/`, one
    per size. They are needed if a single baseline for all sizes would be a solution with added delays.

    If `in_c`, the function is written in C: `uint32_t name(const uint8_t *, size_t)`. The submission assigns the C
    source as a string to the task's name. The function takes the bytes of one uint8 tensor. Its result becomes 4 bytes,
    little-endian (`grader.trials.native`). The baseline is C, too, so the ratio does not depend on the Python version.

    `operations(*inputs)` returns how many float32 additions and multiplications any right function must make. Without
    it, the physical limit counts only the bytes that must be read and written (`grader.trials.physical_limit`).
    """

    parameters: tuple[str, ...]
    cases: Callable[[np.random.Generator], Sequence[Inputs]]
    timed: Drawing
    oracle: Callable[..., NDArray[np.float64]]
    allowed: Callable[..., NDArray[np.float64]]
    also_timed: tuple[Drawing, ...] = ()
    baselines: tuple[str, ...] = ()
    in_c: bool = False
    operations: Callable[..., float] | None = None
    forgiven: ClassVar[int] = 0
    guess_gain: ClassVar[float] = 0.0
    simulated: ClassVar[bool] = False
    needs_torch: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SimulatedFunction:
    """An argument that is a function. The grader's process counts and answers each call of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How a wrong answer differs from the expected one, as text for the student."""

    expected: str
    got: str
    remark: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The difference between the wrong and the expected answer as one or two lines of text."""
        head = f"  expected {self.expected}    got {self.got}"
        one = f"{head}    {self.remark}".rstrip()
        return (one,) if len(one) <= ONE_LINE or not self.remark else (head, f"  {self.remark}")


class Scenario(Protocol):
    """One simulated test case, used once. The student's function can only call the functions in `arguments`.

    A scenario is built from a seeded random generator and runs outside the submission's process.
    """

    @property
    def function(self) -> str:
        """The name of the student's function that is called in this test case."""

    @property
    def title(self) -> str:
        """A short description of the test case, shown if the answer is wrong."""

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments with which the student's function is called."""

    @property
    def cost(self) -> float:
        """The cost of the student's function so far, in the unit of the task's cost. It is always positive."""

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer a call of the simulated function `name`. A `ValueError` is sent back to the submission."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Return how an answer differs from the right one, or None if it is right."""


@runtime_checkable
class Exact(Protocol):
    """A test case with only one right answer. `order` is the rule for the order of its rows, if it has several."""

    right: Value
    order: str


@runtime_checkable
class Planned(Protocol):
    """A simulated test case that can also compute the cost of the baseline, so that a ratio can be graded."""

    @property
    def plain_cost(self) -> float:
        """The cost of the baseline in this test case, in the unit of the task's cost."""


@dataclass(frozen=True)
class SimulatedExam:
    """The tests for a student's function that measures something. Simulated scenarios with known right answers test it.

    `max_calls` limits the calls of simulated functions in one scenario. With `needs_torch`, the submission's process
    starts with torch imported. `together` judges all finished scenarios in their order, for requirements such as an
    error rate. These scenarios are kept until then, so they must not record calls. `scenario_noun` is the word for
    scenarios in texts for the student. Up to `forgiven` answers may be wrong, so that a method that fails in one of a
    few hundred scenarios still passes. `tells` is empty, or the reason why the answer to a single call may help to
    predict the right answer (`grader.authoring.giveaways`).
    """

    scenarios: Callable[[np.random.Generator], Sequence[Scenario]]
    max_calls: int = 200_000
    needs_torch: bool = False
    together: Callable[[Sequence[Scenario]], Mismatch | None] | None = None
    scenario_noun: str = "simulated scenarios"
    forgiven: int = 0
    tells: str = ""
    simulated: ClassVar[bool] = True
    in_c: ClassVar[bool] = False
    baselines: ClassVar[tuple[str, ...]] = ()

    @property
    def guess_gain(self) -> float:
        """By how much a ratio can rise if a submission guesses in all scenarios whose answers may be wrong.

        A scenario counts at most twice the median ratio (`grader.kinds.simulated`), so k guesses in n scenarios
        multiply the ratio by at most 2^(k / n).
        """
        return math.exp2(self.forgiven / len(self.scenarios(seeds.generator("guesses")))) - 1


@dataclass(frozen=True)
class ValueExam:
    """The tests for a student's function of plain values, which is timed.

    `scenarios(rng)` returns the test cases for correctness. `timed(rng)` returns the calls of one timed request, with
    new contents and new random shapes each time. It must be fast. No test case has functions as arguments.
    """

    scenarios: Callable[[np.random.Generator], Sequence[Scenario]]
    timed: Callable[[np.random.Generator], Sequence[Scenario]]
    forgiven: ClassVar[int] = 0
    guess_gain: ClassVar[float] = 0.0
    simulated: ClassVar[bool] = False
    in_c: ClassVar[bool] = False
    needs_torch: ClassVar[bool] = False
    baselines: ClassVar[tuple[str, ...]] = ()


Exam = TensorExam | SimulatedExam | ValueExam
"""The three kinds of tests for a student's function: they judge its answers and measure its cost."""


@dataclass(frozen=True)
class Task:
    """One function that a student writes and the grader grades.

    A right answer earns `correct_share` of the points at any cost. `plain` is the name of the baseline's file in
    `known/`. The ratio of the reference solution must be at least `least_gain` times the highest threshold in
    `tiers`, because on another machine its ratio may be half as large. `least_gain` may be smaller if the ratios of
    several machines and Pythons were compared, or the baseline is the solution itself, slowed by a known factor.
    `read` names the lesson and the title of the step to read before the task. After full marks, the student reads
    `idea`, which explains the reference solution, and `references`. `grader.catalogue` sets `lesson`, `name` and
    `folder`, the lesson's folder in `grader/tasks`.
    """

    summary: str
    cost: Cost
    tiers: tuple[Tier, ...]
    hints: tuple[str, str, str]
    exam: Exam
    read: str
    points: float = field(default=10.0, kw_only=True)
    lesson: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    folder: Path = field(default=Path(), kw_only=True)
    correct_share: float = 0.4
    limits: Limits = field(default_factory=Limits)
    idea: str = ""
    references: str = ""
    least_gain: float = 2.0
    plain: str = "baseline"

    @property
    def full_name(self) -> str:
        """The name `<lesson>.<task>`, which reports show."""
        return f"{self.lesson}.{self.name}"

    @property
    def simulated(self) -> bool:
        """Whether simulated test cases compute the cost of a submission. Such a cost is equal on every machine."""
        return self.exam.simulated

    @property
    def needs_torch(self) -> bool:
        """Whether the submission's process is forked from a process that has imported torch."""
        return self.exam.needs_torch

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the student writes, in the order in which they are judged."""
        if isinstance(self.exam, TensorExam):
            return (self.name,)
        drawn = self.exam.scenarios(seeds.generator("names of functions"))
        return tuple(dict.fromkeys(scenario.function for scenario in drawn))

    @property
    def known(self) -> Path:
        """The folder of the task's example submissions, right and wrong ones."""
        return self.folder / "known" / self.name

    @property
    def baseline(self) -> str:
        """The source text of the baseline, whose file is named `plain`."""
        return overlays.whole(self.known / f"{self.plain}.py")

    @property
    def baselines(self) -> tuple[Path, ...]:
        """The files of the baselines that grading runs. Simulated tasks have none: the test cases compute the cost."""
        names = () if self.simulated else self.exam.baselines or (self.plain,)
        return tuple(self.known / f"{name}.py" for name in names)

    @property
    def wrong_answers(self) -> tuple[Path, ...]:
        """The files of the task's wrong example submissions, sorted by name."""
        return tuple(sorted(self.known.glob("wrong_*.py")))

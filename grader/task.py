"""What a task is: correct output at a bounded cost.

An exercise (one lesson, one file for the student to fill in) has one or more tasks. A task names the function to write,
how its answers are judged (its *exam*), what its cost is compared with (the exercise's own plain baseline, run in the
same session), and which ratios earn which share of the points.

Beside each task lies its truth table, `known/<task>/*.py`, one known submission a file, graded by `grader lint`. The
file's name states what grading it must give:

    baseline.py      right, reaches no tier
    baseline_*.py    the same, for some of the timed sizes (`TensorExam.baselines`)
    tier<k>_*.py     right, reaches exactly tier k
    wrong_*.py       wrong; its docstring is the explanation a student reads whose output it reproduces
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from grader.records import Cost
from grader.values import Value

ONE_LINE: Final = 90
"""Characters up to which a mismatch is told on one line."""

PLAIN_MODULES: Final = (
    *("__future__", "array", "bisect", "collections", "dataclasses", "functools", "heapq", "itertools", "math"),
    *("operator", "re", "string", "typing"),
)
"""Modules of the standard library that work on what they are given, and reach nothing else."""

CALLS_TOGETHER: Final = 20
"""All calls of a task together may take as long as this many calls that use up the limit of one.

With the usual limits that is 15 minutes. The honest submission that asks most, the baseline of `05_compare.crossover`,
needs 72 s on two busy cores.
"""

Array = NDArray[Any]
"""An array of any dtype: which one is part of the case."""

Inputs = tuple[Array, ...]

Drawing = Callable[[np.random.Generator], Iterator[Inputs]]
"""Draws fresh inputs of one size without end."""


@dataclass(frozen=True, slots=True)
class Tier:
    """At `ratio` times the baseline's speed (baseline cost ÷ own cost), `share` of the points."""

    ratio: float
    share: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use. Times are CPU time of its process tree; `patience` times as much may pass on the wall.

    So a crowded machine takes nothing from honest work, and one that hangs, and burns nothing, ends all the same.
    `together_s` bounds what all requests of a task take, so that many that stay below their limits cannot hold a lane.
    More than one of `threads`, for torch and whatever else, goes with a cost of `Cost.WALL_TIME`.

    A worker keeps the memory it has once had, so that timing does not depend on what came before. One that
    `returns_memory` gives each block of 128 KiB and more back when it is freed, and has new memory for the next, as
    every program does whose blocks are large enough (32 MiB, with the GNU C library). One that `stores_outside` may
    keep data where no memory of a process is: in files, pipes, sockets and memory that is shared.
    """

    load_s: float = 30.0
    call_s: float = 10.0
    patience: float = 4.0
    memory_bytes: int = 2 << 30
    threads: int = 1
    returns_memory: bool = False
    stores_outside: bool = True

    @property
    def together_s(self) -> float:
        """Wall seconds for which the workers of one task may be waited for, over all of their requests."""
        return self.patience * (self.load_s + CALLS_TOGETHER * self.call_s)


@dataclass(frozen=True)
class TensorExam:
    """Tensors in, one tensor out, checked against a float64 oracle.

    `cases(rng)` gives the correctness cases: tuples of NumPy arrays, one per parameter, which may be empty, strided
    views or views of each other's memory (no negative strides: torch has none). `timed(rng)` gives fresh inputs of the
    timed size without end, all with the same strides, and cheaply: some hundred are drawn while a submission waits.
    `oracle(*inputs)` is the right answer in float64. `allowed(*inputs)` is the absolute error allowed for each element
    of it, in its shape. The answer must have the dtype of the first input.

    `also_timed` are further sizes, for a function that must be fast at each: every size is timed in a duel of its own,
    and the worst ratio decides (`grader.trials.sizes`). `baselines` are the names of the files in `known/` that it is
    timed against there, one for each size, where one file for all of them would be a solution made slower.

    A function `in_c` is a string of the task's name that holds C source: `uint32_t name(const uint8_t *, size_t)`, the
    bytes of one uint8 tensor in, and four bytes out, little-endian (`grader.trials.native`). Its baseline is C, too, so
    that the ratio does not depend on the version of Python.
    """

    parameters: tuple[str, ...]
    cases: Callable[[np.random.Generator], Sequence[Inputs]]
    timed: Drawing
    oracle: Callable[..., NDArray[np.float64]]
    allowed: Callable[..., NDArray[np.float64]]
    also_timed: tuple[Drawing, ...] = ()
    baselines: tuple[str, ...] = ()
    in_c: bool = False


@dataclass(frozen=True, slots=True)
class Metered:
    """An argument that is a function of the scenario's: calling it asks the supervisor, which counts."""

    name: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why an answer is wrong: what was expected and what came, in words for the student."""

    expected: str
    got: str
    remark: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The mismatch as a message shows it."""
        head = f"  expected {self.expected}    got {self.got}"
        one = f"{head}    {self.remark}".rstrip()
        return (one,) if len(one) <= ONE_LINE or not self.remark else (head, f"  {self.remark}")


class Scenario(Protocol):
    """One simulated world, played once: it lives in the supervisor and the submission can only call into it.

    A scenario is built from a seeded generator.
    """

    @property
    def function(self) -> str:
        """The function of the submission to call."""

    @property
    def title(self) -> str:
        """The world in a few words, shown when the answer is wrong."""

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """What the function is given."""

    @property
    def cost(self) -> float:
        """What has been spent so far, in the task's cost."""

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer a call of the metered function `name`; a ValueError travels back to the caller."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare an answer with the planted truth; None when it is right."""


@runtime_checkable
class Planned(Protocol):
    """A scenario of a task with tiers: it also knows what the plain way spends in it."""

    @property
    def plain_cost(self) -> float:
        """What the plain way spends here, as the world's own plan says, in the task's cost."""


def _nothing_together(_: Sequence[Scenario]) -> None:
    """Leave it at what each world says."""


@dataclass(frozen=True)
class MeteredExam:
    """A function that measures: judged on simulated worlds whose truth is planted.

    `torch` says that the exercise's file imports torch, so its worker had better be born with it.
    `together` judges all worlds after their play, in their order, when each by itself was right: for a promise that no
    single world can break, such as an error rate. `worlds` is what a student reads they are. In `forgiven` of them an
    answer may be wrong: a method that one world in a few hundred leads astray passes then in every exam.
    """

    scenarios: Callable[[np.random.Generator], Sequence[Scenario]]
    max_calls: int = 200_000
    torch: bool = False
    together: Callable[[Sequence[Scenario]], Mismatch | None] = _nothing_together
    worlds: str = "simulated worlds"
    forgiven: int = 0


@dataclass(frozen=True)
class CountedExam:
    """A function of plain Python whose instructions or opcodes are counted, with nothing but the `modules`.

    `scenarios(rng)` gives the correctness cases and `counted(rng)` what is called while it is counted: about a second
    of work, where all takes fifty times as long. The task's cost says what is counted. Both give worlds without
    metered functions: arguments of plain values, and a `judge`. `answer(world)` is the right answer to one of them.
    The CPU time of `timed_draws` times as much work is read too: some 0.2 s of the baseline's.
    """

    scenarios: Callable[[np.random.Generator], Sequence[Scenario]]
    counted: Callable[[np.random.Generator], Sequence[Scenario]]
    answer: Callable[[Scenario], Value]
    modules: tuple[str, ...] = PLAIN_MODULES
    timed_draws: int = 40


@dataclass(frozen=True)
class Task:
    """One gradable function. `correct_share` of the points is earned by a right answer at any cost.

    `plain` is the name of the file in `known/` that a submission is compared with.
    `least_gain` is how many times the top tier's ratio the solution must reach: another machine may show half of a
    gain. Less will do only where the baseline is the solution's own work made slower by a known factor.
    `read` names the step of the lesson to read before; `idea` and `read_on` are shown after full marks: what the
    reference solution does and why, in a few sentences, and where to read more. A student's kit has no solutions, so
    they live here.
    """

    lesson: str
    name: str
    summary: str
    points: float
    cost: Cost
    tiers: tuple[Tier, ...]
    hints: tuple[str, str, str]
    exam: TensorExam | MeteredExam | CountedExam
    folder: Path
    read: str
    correct_share: float = 0.4
    limits: Limits = Limits()
    idea: str = ""
    read_on: str = ""
    least_gain: float = 2.0
    plain: str = "baseline"

    @property
    def full_name(self) -> str:
        """`<lesson>.<task>`, as reports show it."""
        return f"{self.lesson}.{self.name}"

    @property
    def simulated(self) -> bool:
        """Whether its cost is what simulated worlds say, which is the same on every machine."""
        return isinstance(self.exam, MeteredExam)

    @property
    def needs_torch(self) -> bool:
        """Whether its worker had better be born with torch: for tensors, or because the exercise's file imports it."""
        if isinstance(self.exam, CountedExam):
            return False
        return isinstance(self.exam, TensorExam) or self.exam.torch

    @property
    def known(self) -> Path:
        """The folder of the task's truth table."""
        return self.folder / "known" / self.name

    @property
    def baseline(self) -> str:
        """Source text of the plain baseline, the file named `plain`."""
        return (self.known / f"{self.plain}.py").read_text(encoding="utf-8")

    @property
    def baselines(self) -> tuple[Path, ...]:
        """The baselines that grading runs: none for simulated worlds, which know what the plain way spends."""
        if isinstance(self.exam, MeteredExam):
            return ()
        names = self.exam.baselines if isinstance(self.exam, TensorExam) else ()
        return tuple(self.known / f"{name}.py" for name in names or (self.plain,))

    @property
    def wrong_answers(self) -> tuple[Path, ...]:
        """The known wrong submissions, in order of name."""
        return tuple(sorted(self.known.glob("wrong_*.py")))

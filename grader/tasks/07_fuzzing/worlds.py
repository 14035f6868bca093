"""The simulated worlds of lesson 07: an operation that is slow on some matrices, a fuzzer, and measurements.

A matrix is a case: rows, columns, the step between its columns in memory, and whether it is transposed. Planted is what
makes the operation slow; from there on, every larger or odder case is slow too. The cost is how many measurements were
asked for.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import shown
from grader.tasks.simulated import stratified
from grader.values import Value
from harness import units

MOST_SIDE: Final = 4096
MOST_STEP: Final = 16
MOST_ELEMENTS: Final = 1 << 20
"""Elements that a case spans in memory, steps included: what this simulated machine can hold."""

SLOW: Final = 3.0
"""A case is slow from this many times its plain twin's time.

Planted are 5 to 11 times, and below 1.5 where not. Even beside a twin that was disturbed and took 4 times as long, 11
times are never slow at a first look and not at a second.
"""

EACH: Final = 12
"""Worlds of each kind."""

MOST_HARMLESS: Final = 19
"""Draws before the first that is slow, at most. In each exam the worlds have them all, from none to so many, so that
luck with the draws evens out."""

OPERATION: Final = "mix"
FIELDS: Final = ("rows", "columns", "step", "transposed")


@dataclass(frozen=True, slots=True)
class Case:
    """A matrix to measure on."""

    rows: int
    columns: int
    step: int = 1
    transposed: bool = False

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return self.rows * self.columns

    @property
    def size(self) -> tuple[int, int, bool]:
        """What makes one case smaller than another: elements first, then step, then the order."""
        return self.elements, self.step, self.transposed

    def to_value(self) -> Value:
        """The case as a submission sees it."""
        return {"rows": self.rows, "columns": self.columns, "step": self.step, "transposed": self.transposed}

    def __str__(self) -> str:
        odd = [f"steps of {self.step}"] * (self.step > 1) + ["transposed"] * self.transposed
        return ", ".join([f"{self.rows}×{self.columns}", *(odd or ["plain"])])


def read(value: Value) -> Case | str:
    """A case from a plain value, or what is wrong with it."""
    if not isinstance(value, Mapping) or set(value) != set(FIELDS):
        return f"a case is a dict of {', '.join(FIELDS)}; this is {shown(value)}"
    rows, columns, step, transposed = (value[name] for name in FIELDS)
    if not isinstance(transposed, bool):
        return f"transposed is True or False; this is {shown(transposed)}"
    for name, number, most in (("rows", rows, MOST_SIDE), ("columns", columns, MOST_SIDE), ("step", step, MOST_STEP)):
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= most:
            return f"{name} is a whole number from 1 to {most}; this is {shown(number)}"
    assert isinstance(rows, int) and isinstance(columns, int) and isinstance(step, int)  # noqa: PT018 - for the types
    if rows * columns * step > MOST_ELEMENTS:
        return f"{rows}×{columns} in steps of {step} spans more than {MOST_ELEMENTS} elements"
    return Case(rows, columns, step, transposed)


@dataclass(frozen=True, slots=True)
class Trap:
    """What makes a case slow: it reaches every part of `least`, and then takes `times` its twin's time."""

    least: Case
    times: float

    def catches(self, case: Case) -> bool:
        """Whether a case is slow. What catches one case catches every larger and odder one."""
        least = self.least
        return (
            case.rows >= least.rows
            and case.columns >= least.columns
            and case.step >= least.step
            and case.transposed >= least.transposed
        )


@dataclass
class MatrixWorld:
    """An operation with a trap, a fuzzer that meets it now and then, and measurements that are disturbed at times."""

    title: str
    trap: Trap
    rng: np.random.Generator
    call_s: float
    element_s: float
    caught_at: int
    function: str = "smallest_slow_case"
    measured: int = 0
    draws: Iterator[Case] = field(init=False)
    disturbance: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        draws = _draws(np.random.default_rng(int(self.rng.integers(1 << 62))))
        self.draws = _first_caught_at(self.caught_at, self.trap, draws)
        self.disturbance = _disturbance(self.rng)

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The operation's name, what draws a case, and what measures it."""
        return (OPERATION, Metered("fuzzer"), Metered("measure"))

    @property
    def cost(self) -> float:
        """How many measurements were made."""
        return self.measured

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer `fuzzer()` (a case) or `measure(f, case)` (seconds)."""
        if name == "fuzzer":
            if arguments:
                raise ValueError(f"fuzzer() takes no arguments; it was given {len(arguments)}.")
            return next(self.draws).to_value()
        if len(arguments) != 2 or arguments[0] != OPERATION:
            raise ValueError("measure(f, case) takes f as it was given to you, and one case.")
        case = read(arguments[1])
        if isinstance(case, Case):
            return self._seconds(case)
        raise ValueError(f"measure(f, case) cannot: {case}.")

    def _seconds(self, case: Case) -> float:
        factor = self.disturbance[self.measured % len(self.disturbance)]
        self.measured += 1
        return self._undisturbed_s(case) * factor

    def _undisturbed_s(self, case: Case) -> float:
        times = self.trap.times if self.trap.catches(case) else 1.0 + 0.2 * (case.step > 1) + 0.15 * case.transposed
        return (self.call_s + self.element_s * case.elements) * times

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the smallest case that the trap catches."""
        least = self.trap.least
        expected = f"the smallest slow case: {least}"
        case = read(answer)
        if isinstance(case, str):
            return Mismatch("a case", shown(answer), f"Return one: {case}.")
        if case == least:
            return None
        if not self.trap.catches(case):
            times = self._undisturbed_s(case) / self._undisturbed_s(Case(case.rows, case.columns))
            remark = f"That one is not slow: it takes {units.ratio(times)} the time of its plain twin."
            return Mismatch(expected, str(case), remark)
        return Mismatch(expected, str(case), f"Slow, but not the smallest: {_smaller(case, self.trap)} is slow too.")


def _smaller(case: Case, trap: Trap) -> Case:
    """A slow case that is smaller in one respect only, so that a student sees which one was not reduced."""
    least = trap.least
    candidates = (
        Case(least.rows, case.columns, case.step, case.transposed),
        Case(case.rows, least.columns, case.step, case.transposed),
        Case(case.rows, case.columns, least.step, case.transposed),
        Case(case.rows, case.columns, case.step, least.transposed),
    )
    return next(each for each in candidates if each != case)


def _disturbance(rng: np.random.Generator, length: int = 2048) -> tuple[float, ...]:
    """Draw a factor for each measurement: 4 % up or down, and every tenth or so 4 to 8, never two in a row."""
    factors = rng.uniform(0.96, 1.04, length)
    hit = np.cumsum(rng.integers(6, 14, length // 6))
    hit = hit[hit < length]
    factors[hit] *= rng.uniform(4, 8, len(hit))
    return tuple(factors.tolist())


def _draws(rng: np.random.Generator) -> Iterator[Case]:
    """Cases like those of PyTorch's fuzzers: sizes spread evenly over their logarithm, mostly contiguous."""
    while True:
        rows, columns = (int(2 ** rng.uniform(0, math.log2(MOST_SIDE))) for _ in range(2))
        step = int(rng.choice([1, 2, 4, 8, 16], p=[0.4, 0.15, 0.15, 0.15, 0.15]))
        if rows * columns * step <= MOST_ELEMENTS:
            yield Case(rows, columns, step, bool(rng.random() < 0.5))


def _first_caught_at(place: int, trap: Trap, draws: Iterator[Case]) -> Iterator[Case]:
    """Yield draws of which the trap catches the one at this place first; 0 is the first draw."""
    harmless, caught = itertools.tee(draws)
    yield from itertools.islice(itertools.filterfalse(trap.catches, harmless), place)
    yield next(filter(trap.catches, caught))
    yield from harmless


def draw_worlds(rng: np.random.Generator) -> tuple[MatrixWorld, ...]:
    """Draw the worlds of one exam: four reasons to be slow, and `EACH` worlds of each."""

    def sides(low: int, high: int) -> list[int]:
        return [int(side) for side in stratified(rng, low, high, EACH)]

    drawn = zip(
        *(sides(60, 250), sides(20, 60)),
        *(sides(100, 500), sides(3, 8)),
        *(sides(8, 30), sides(30, 120)),
        *(sides(150, 700), sides(2, 6)),
        strict=True,
    )
    traps = [
        trap
        for long, short, wide, step, low, broad, tall, narrow in drawn
        for trap in (
            ("transposed matrices with long columns", Case(long, short, 1, transposed=True)),
            ("wide steps in long rows", Case(1, wide, step)),
            ("transposed with wide steps", Case(low, broad, 2, transposed=True)),
            ("tall matrices in steps", Case(tall, narrow, 2)),
        )
    ]
    return tuple(
        MatrixWorld(
            title,
            Trap(least, times=float(rng.uniform(5, 11))),
            rng,
            call_s=float(rng.uniform(1e-6, 4e-6)),
            element_s=float(rng.uniform(0.2e-9, 0.6e-9)),
            caught_at=int(place),
        )
        for (title, least), place in zip(traps, stratified(rng, 0, MOST_HARMLESS + 1, len(traps)), strict=True)
    )

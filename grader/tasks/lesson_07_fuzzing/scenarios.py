"""The simulated scenarios of lesson 07: an operation that is slow on some matrices, a fuzzer, and measurements.

A case describes a matrix: rows, columns, the step between its columns in memory, and whether it is transposed. The
plain counterpart of a case has the same rows and columns, step 1, and is not transposed. A case is slow if each of its
parts is at least as large as in the smallest slow case, which is the right answer. The cost is the number of
measurements.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.task import Mismatch, SimulatedFunction
from grader.tasks.plain import shown
from grader.tasks.simulated import stratified
from grader.values import Value
from harness.rendering import units

MOST_SIDE: Final = 4096
MOST_STEP: Final = 16
MOST_ELEMENTS: Final = 1 << 20
"""The largest number of elements that a matrix may span in memory, steps included."""

SLOW: Final = 3.0
"""A matrix is slow if it takes this many times as long as a matrix of equal rows and columns in plain layout.

Slow matrices take 5 to 11 times as long, and others less than 1.5 times. A disturbance makes a measurement at least 4
times as long. So a slow matrix does not look slow compared with a disturbed measurement of the plain layout.
"""

PLAIN_DRAWS: Final = 60
PLAIN_MEASUREMENTS: Final = 8
"""The baseline, with which submissions are compared, makes this number of measurements per matrix."""

EACH: Final = 12
"""The number of scenarios for each cause of slowness."""

MOST_DRAWS_BEFORE: Final = 19
"""The largest number of random matrices before the first slow matrix.

In one grading, these numbers are spread evenly from 0 to this number, so a grade does not depend on luck.
"""

OPERATION: Final = "mix"
FIELDS: Final = ("rows", "columns", "step", "transposed")


@dataclass(frozen=True, slots=True)
class Case:
    """A matrix: rows, columns, the step between columns in memory, and whether it is transposed."""

    rows: int
    columns: int
    step: int = 1
    transposed: bool = False

    @property
    def elements(self) -> int:
        """The number of elements of the matrix."""
        return self.rows * self.columns

    @property
    def size(self) -> tuple[int, int, bool]:
        """A sort key: the number of elements first, then the step, then whether the matrix is transposed."""
        return self.elements, self.step, self.transposed

    def to_value(self) -> Value:
        """Return the description of the matrix, a dict, that the submission gets."""
        return {"rows": self.rows, "columns": self.columns, "step": self.step, "transposed": self.transposed}

    def __str__(self) -> str:
        odd = [f"steps of {self.step}"] * (self.step > 1) + ["transposed"] * self.transposed
        return ", ".join([f"{self.rows}×{self.columns}", *(odd or ["plain"])])


def read(value: Value) -> Case | str:
    """Return the matrix that a plain value describes, or a text that names the mistake in the value."""
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
class Slowness:
    """States which matrices are slow, and how slow.

    A matrix at least as large as `least` in each part takes `times` as long as in plain layout.
    """

    least: Case
    times: float

    def is_slow(self, case: Case) -> bool:
        """Return whether a matrix is slow."""
        least = self.least
        return (
            case.rows >= least.rows
            and case.columns >= least.columns
            and case.step >= least.step
            and case.transposed >= least.transposed
        )


@dataclass
class MatrixScenario:
    """An operation that is slow on some matrices, a fuzzer, and measurements that are sometimes disturbed."""

    title: str
    slowness: Slowness
    rng: np.random.Generator
    call_s: float
    element_s: float
    first_slow_at: int
    function: str = "smallest_slow_case"
    measured: int = 0
    plain_cost: float = field(init=False)
    draws: Iterator[Case] = field(init=False)
    disturbance: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        draws = _draws(np.random.default_rng(int(self.rng.integers(1 << 62))))
        draws = _first_slow_at(self.first_slow_at, self.slowness, draws)
        first = list(itertools.islice(draws, PLAIN_DRAWS))
        self.draws = itertools.chain(first, draws)
        self.plain_cost = PLAIN_MEASUREMENTS * (PLAIN_DRAWS + _plain_steps(self.slowness, first))
        self.disturbance = _disturbance(self.rng)

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `smallest_slow_case`: the operation's name, `fuzzer` and `measure`."""
        return (OPERATION, SimulatedFunction("fuzzer"), SimulatedFunction("measure"))

    @property
    def cost(self) -> float:
        """The number of measurements, or 1 if there was no measurement."""
        return max(1, self.measured)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return a random matrix for `fuzzer()`, or the seconds of `measure(f, case)`."""
        if name == "fuzzer":
            if arguments:
                raise ValueError(f"fuzzer() takes no arguments; it got {len(arguments)}.")
            return next(self.draws).to_value()
        if len(arguments) != 2 or arguments[0] != OPERATION:
            raise ValueError("measure(f, case) takes the name f that your function got, and one case.")
        case = read(arguments[1])
        if isinstance(case, Case):
            return self._seconds(case)
        raise ValueError(f"measure(f, case) got a wrong case: {case}.")

    def _seconds(self, case: Case) -> float:
        factor = self.disturbance[self.measured % len(self.disturbance)]
        self.measured += 1
        return self._undisturbed_s(case) * factor

    def _undisturbed_s(self, case: Case) -> float:
        times = (
            self.slowness.times if self.slowness.is_slow(case) else 1.0 + 0.2 * (case.step > 1) + 0.15 * case.transposed
        )
        return (self.call_s + self.element_s * case.elements) * times

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is not the smallest slow matrix, else None."""
        least = self.slowness.least
        expected = f"the smallest slow case: {least}"
        case = read(answer)
        if isinstance(case, str):
            return Mismatch("a case", shown(answer), f"Return a case: {case}.")
        if case == least:
            return None
        if not self.slowness.is_slow(case):
            times = self._undisturbed_s(case) / self._undisturbed_s(Case(case.rows, case.columns))
            remark = f"This case is not slow: it takes {units.ratio(times)} the time of its plain counterpart."
            return Mismatch(expected, str(case), remark)
        remark = f"This case is slow, but not the smallest: {_smaller(case, self.slowness)} is slow too."
        return Mismatch(expected, str(case), remark)


def _plain_steps(slowness: Slowness, drawn: Sequence[Case]) -> int:
    slow = [case for case in drawn if slowness.is_slow(case)]
    largest = max(slow, key=lambda case: case.rows + case.columns)
    least = slowness.least
    sides = ((largest.rows, least.rows), (largest.columns, least.columns), (largest.step, least.step))
    return sum(_steps_down(*side) for side in sides) + largest.transposed


def _steps_down(number: int, least: int) -> int:
    tries = 0
    for share in (16, MOST_SIDE):
        while number > 1:
            tries += 1
            lower = number - max(1, number // share)
            if lower < least:
                break
            number = lower
    return tries


def _smaller(case: Case, slowness: Slowness) -> Case:
    least = slowness.least
    candidates = (
        Case(least.rows, case.columns, case.step, case.transposed),
        Case(case.rows, least.columns, case.step, case.transposed),
        Case(case.rows, case.columns, least.step, case.transposed),
        Case(case.rows, case.columns, case.step, least.transposed),
    )
    return next(each for each in candidates if each != case)


def _disturbance(rng: np.random.Generator) -> tuple[float, ...]:
    length = 2048
    factors = rng.uniform(0.96, 1.04, length)
    hit = np.cumsum(rng.integers(6, 14, length // 6))
    hit = hit[hit < length]
    factors[hit] *= rng.uniform(4, 8, len(hit))
    return tuple(factors.tolist())


def _draws(rng: np.random.Generator) -> Iterator[Case]:
    while True:
        rows, columns = (int(2 ** rng.uniform(0, math.log2(MOST_SIDE))) for _ in range(2))
        step = int(rng.choice([1, 2, 4, 8, 16], p=[0.4, 0.15, 0.15, 0.15, 0.15]))
        if rows * columns * step <= MOST_ELEMENTS:
            yield Case(rows, columns, step, bool(rng.random() < 0.5))


def _first_slow_at(place: int, slowness: Slowness, draws: Iterator[Case]) -> Iterator[Case]:
    fast, slow = itertools.tee(draws)
    yield from itertools.islice(itertools.filterfalse(slowness.is_slow, fast), place)
    yield next(filter(slowness.is_slow, slow))
    yield from fast


def draw_scenarios(rng: np.random.Generator) -> tuple[MatrixScenario, ...]:
    """Return the scenarios for one grading, an equal number for each of four causes of slowness."""

    def sides(low: int, high: int) -> list[int]:
        return [int(side) for side in stratified(rng, low, high, EACH)]

    drawn = zip(
        *(sides(60, 250), sides(20, 60)),
        *(sides(100, 500), sides(3, 8)),
        *(sides(8, 30), sides(30, 120)),
        *(sides(150, 700), sides(2, 6)),
        strict=True,
    )
    planted = [
        slowness
        for long, short, wide, step, low, broad, tall, narrow in drawn
        for slowness in (
            ("transposed matrices with long columns", Case(long, short, 1, transposed=True)),
            ("wide steps in long rows", Case(1, wide, step)),
            ("transposed with wide steps", Case(low, broad, 2, transposed=True)),
            ("tall matrices in steps", Case(tall, narrow, 2)),
        )
    ]
    return tuple(
        MatrixScenario(
            title,
            Slowness(least, times=float(rng.uniform(5, 11))),
            rng,
            call_s=float(rng.uniform(1e-6, 4e-6)),
            element_s=float(rng.uniform(0.2e-9, 0.6e-9)),
            first_slow_at=int(place),
        )
        for (title, least), place in zip(planted, stratified(rng, 0, MOST_DRAWS_BEFORE + 1, len(planted)), strict=True)
    )

"""Task (a) of lesson 07: reduce a slow input to the smallest slow input, in few measurements.

In each scenario, a matrix is slow if its rows, columns and step have at least certain sizes. In some scenarios it must
also be transposed. The matrix with exactly these sizes is the right answer. About one random matrix in ten is slow.
From such a matrix, bisection finds the answer in about 30 comparisons, but reducing step by step takes hundreds. The
baseline, with which submissions are compared, starts from the largest slow matrix of 60, so that its cost does not
depend on luck.

A case describes a matrix: rows, columns, the step between its columns in memory, and whether it is transposed. The
plain counterpart of a case has the same rows and columns, step 1, and is not transposed. The cost is the number of
measurements.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import is_whole, shown
from grader.tasks.simulated import shuffled, stratified, want_no_arguments
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
class MatrixCase:
    """A matrix: rows, columns, the step between columns in memory, and whether it is transposed."""

    rows: int
    columns: int
    step: int = 1
    transposed: bool = False

    def to_value(self) -> Value:
        """Return the description of the matrix, a dict, that the submission gets."""
        return {name: getattr(self, name) for name in FIELDS}

    def is_within(self, other: "MatrixCase") -> bool:
        """Return whether another matrix is at least as large in each part."""
        return all(getattr(self, name) <= getattr(other, name) for name in FIELDS)

    def __str__(self) -> str:
        odd = [f"steps of {self.step}"] * (self.step > 1) + ["transposed"] * self.transposed
        return ", ".join([f"{self.rows}×{self.columns}", *(odd or ["plain"])])


def read(value: Value) -> MatrixCase | str:
    """Return the matrix that a plain value describes, or a text that names the mistake in the value."""
    if not isinstance(value, Mapping) or set(value) != set(FIELDS):
        return f"a case is a dict of {', '.join(FIELDS)}; this is {shown(value)}"
    rows, columns, step, transposed = (value[name] for name in FIELDS)
    if transposed not in (True, False):
        return f"transposed is True or False; this is {shown(transposed)}"
    for name, number, most in (("rows", rows, MOST_SIDE), ("columns", columns, MOST_SIDE), ("step", step, MOST_STEP)):
        if not is_whole(number, 1, most):
            return f"{name} is a whole number from 1 to {most}; this is {shown(number)}"
    rows, columns, step = (int(side) for side in (rows, columns, step) if is_whole(side))
    if rows * columns * step > MOST_ELEMENTS:
        return f"{rows}×{columns} in steps of {step} spans more than {MOST_ELEMENTS} elements"
    return MatrixCase(rows, columns, step, bool(transposed))


@dataclass
class MatrixScenario:
    """An operation that is slow on some matrices, a fuzzer, and measurements that are sometimes disturbed.

    A matrix at least as large as `least` in each part is slow: it takes `times` as long as in plain layout.
    """

    title: str
    least: MatrixCase
    times: float
    rng: np.random.Generator
    call_s: float
    element_s: float
    first_slow_at: int
    measured: int = 0
    plain_cost: float = field(init=False)
    draws: Iterator[MatrixCase] = field(init=False)
    disturbance: tuple[float, ...] = field(init=False)
    function = "smallest_slow_case"
    arguments = (OPERATION, SimulatedFunction("fuzzer"), SimulatedFunction("measure"))

    def __post_init__(self) -> None:
        draws = _draws(np.random.default_rng(int(self.rng.integers(1 << 62))))
        draws = _first_slow_at(self.first_slow_at, self.least.is_within, draws)
        first = list(itertools.islice(draws, PLAIN_DRAWS))
        self.draws = itertools.chain(first, draws)
        self.plain_cost = PLAIN_MEASUREMENTS * (PLAIN_DRAWS + _plain_steps(self.least, first))
        self.disturbance = _disturbance(self.rng)

    @property
    def cost(self) -> float:
        """The number of measurements, or 1 if there was no measurement."""
        return max(1, self.measured)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return a random matrix for `fuzzer()`, or the seconds of `measure(f, case)`."""
        if name == "fuzzer":
            want_no_arguments(name, arguments)
            return next(self.draws).to_value()
        if len(arguments) != 2 or arguments[0] != OPERATION:
            raise ValueError("measure(f, case) takes the name f that your function got, and one case.")
        case = read(arguments[1])
        if isinstance(case, MatrixCase):
            return self._seconds(case)
        raise ValueError(f"measure(f, case) got a wrong case: {case}.")

    def _seconds(self, case: MatrixCase) -> float:
        factor = self.disturbance[self.measured % len(self.disturbance)]
        self.measured += 1
        return self._undisturbed_s(case) * factor

    def _undisturbed_s(self, case: MatrixCase) -> float:
        times = self.times if self.least.is_within(case) else 1.0 + 0.2 * (case.step > 1) + 0.15 * case.transposed
        return (self.call_s + self.element_s * case.rows * case.columns) * times

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is not the smallest slow matrix, else None."""
        expected = f"the smallest slow case: {self.least}"
        case = read(answer)
        if isinstance(case, str):
            return Mismatch("a case", shown(answer), f"Return a case: {case}.")
        if case == self.least:
            return None
        if not self.least.is_within(case):
            times = self._undisturbed_s(case) / self._undisturbed_s(MatrixCase(case.rows, case.columns))
            remark = f"This case is not slow: it takes {units.ratio(times)} the time of its plain counterpart."
            return Mismatch(expected, str(case), remark)
        remark = f"This case is slow, but not the smallest: {_smaller(case, self.least)} is slow too."
        return Mismatch(expected, str(case), remark)


def _plain_steps(least: MatrixCase, drawn: Sequence[MatrixCase]) -> int:
    largest = max(filter(least.is_within, drawn), key=lambda case: case.rows + case.columns)
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


def _smaller(case: MatrixCase, least: MatrixCase) -> MatrixCase:
    part = next(name for name in FIELDS if getattr(case, name) != getattr(least, name))
    return replace(case, **{part: getattr(least, part)})


def _disturbance(rng: np.random.Generator) -> tuple[float, ...]:
    length = 2048
    factors = rng.uniform(0.96, 1.04, length)
    hit = np.cumsum(rng.integers(6, 14, length // 6))
    hit = hit[hit < length]
    factors[hit] *= rng.uniform(4, 8, len(hit))
    return tuple(factors.tolist())


def _draws(rng: np.random.Generator) -> Iterator[MatrixCase]:
    while True:
        rows, columns = (int(2 ** rng.uniform(0, math.log2(MOST_SIDE))) for _ in range(2))
        step = int(rng.choice([1, 2, 4, 8, 16], p=[0.4, 0.15, 0.15, 0.15, 0.15]))
        if rows * columns * step <= MOST_ELEMENTS:
            yield MatrixCase(rows, columns, step, bool(rng.random() < 0.5))


def _first_slow_at(
    place: int, is_slow: Callable[[MatrixCase], bool], draws: Iterator[MatrixCase]
) -> Iterator[MatrixCase]:
    """Yield `place` matrices that are not slow, a slow one, and then any others. None of them comes twice."""
    yield from itertools.islice(itertools.filterfalse(is_slow, draws), place)
    yield next(filter(is_slow, draws))
    yield from draws


def draw_scenarios(rng: np.random.Generator) -> tuple[MatrixScenario, ...]:
    """Return the scenarios for one grading in random order, an equal number for each of four causes of slowness."""

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
        kind
        for long, short, wide, step, low, broad, tall, narrow in drawn
        for kind in (
            ("transposed matrices with long columns", MatrixCase(long, short, 1, transposed=True)),
            ("wide steps in long rows", MatrixCase(1, wide, step)),
            ("transposed with wide steps", MatrixCase(low, broad, 2, transposed=True)),
            ("tall matrices in steps", MatrixCase(tall, narrow, 2)),
        )
    ]
    places = stratified(rng, 0, MOST_DRAWS_BEFORE + 1, len(planted))
    return tuple(
        MatrixScenario(
            title,
            least,
            float(rng.uniform(5, 11)),
            rng,
            call_s=float(rng.uniform(1e-6, 4e-6)),
            element_s=float(rng.uniform(0.2e-9, 0.6e-9)),
            first_slow_at=int(place),
        )
        for (title, least), place in zip(shuffled(rng, planted), places, strict=True)
    )


SMALLEST_SLOW_CASE = Task(
    summary="find the smallest case on which an operation is slow, in few measurements",
    cost=CALLS,
    tiers=(Tier(1.4, 0.6), Tier(2.7, 0.8), Tier(5.1, 1.0)),
    hints=(
        "A case larger than a slow case is slow too. If a case is not slow, which other cases are not slow either?",
        (
            "Draw until a case is slow, then reduce one part after the other. A case with 1 row may be fast, and a "
            "case with the drawn number of rows is slow. Which number of rows between 1 and the drawn number do you "
            "try next? Which numbers of rows does each result exclude?"
        ),
        (
            "Bisect the rows, then the columns, then the step. At the end, try the case without transposing. Drawing a "
            "case costs nothing: draw about 500 cases, and begin with the largest transposed case with a step. A "
            "disturbance only adds time, so measure again only a case that looks slow. The time of a plain counterpart "
            "is a fixed time plus a time per element. So measure two plain cases of different sizes twice each, and "
            "compute from their times the time of every plain counterpart."
        ),
    ),
    exam=SimulatedExam(draw_scenarios),
    read="lesson 07, “Smaller, and still slow”",
    idea=(
        "The solution draws many cases and measures few. From the times of two plain cases, it computes the time of "
        "every plain counterpart. So one measurement of a case shows whether this case may be slow. Only a case that "
        "looks slow is measured again, because a disturbance only adds time. A case larger than a slow case is slow "
        "too. So the solution bisects each part of the case, one after the other."
    ),
    references=(
        "Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (delta debugging). The library "
        "Hypothesis reduces the inputs of failing tests in the same way."
    ),
)

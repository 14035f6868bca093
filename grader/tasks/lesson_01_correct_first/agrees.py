"""Task (b) of lesson 01: decide whether a function g computes the same as a reference f, in few calls.

Three of the functions g are right and six are wrong. Each of them makes a different careless comparison fail. The
submission gets descriptions of the input tensors, and calls f and g for the numbers. Both functions read the same
tensors, so f computes from any tensor that g changed. The cost is the number of calls of f and g. The baseline calls
them again for each row. Calls only once per case are 8 times fewer, and with a stop at the first difference 27 times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Array, Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import shown
from grader.tasks.simulated import shuffled, stratified
from grader.values import Value

from . import implementations
from .implementations import Implementation, reference

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}
"""The distance from 1 to the next larger number of a dtype; 0 for int64, which is not rounded."""


@dataclass(frozen=True)
class TensorPair:
    """Two input tensors, `a` and `b`. `about` describes their memory layout or their values."""

    about: str
    a: Array
    b: Array

    def tensors(self) -> tuple[Array, Array]:
        """Return new tensors with the contents and memory layout of this case."""
        a, b = self.a.copy(), self.b.copy()
        if self.about == "the same tensor twice":
            return a, a
        if self.about == "strided":
            return a, np.repeat(b, 2, axis=1)[:, ::2]
        if self.about == "broadcast":
            return a, np.broadcast_to(b[:1].copy(), a.shape)
        return a, b

    def describe(self, number: int) -> dict[str, Value]:
        """Return the description of the tensors that the submission gets."""
        rows, n = self.a.shape
        return {"number": number, "rows": rows, "n": n, "dtype": str(self.a.dtype), "about": self.about}


@dataclass(frozen=True)
class Trial:
    """Input tensors with the answers of f and g, whether g is right, and whether g left the tensors unchanged."""

    case: TensorPair
    f: list[Value]
    g: list[float]
    right: bool
    kept: bool


@dataclass
class ComparisonScenario:
    """A function g, and inputs to try it on. `differing` holds the numbers of the inputs for which g is wrong."""

    title: str
    implementation: Implementation
    tried: tuple[Trial, ...]
    calls: int = 0
    seen: dict[str, set[int]] = field(default_factory=lambda: {"f": set(), "g": set()})
    function = "agrees"

    def __post_init__(self) -> None:
        self._tensors = [trial.case.tensors() for trial in self.tried]
        self._told = [trial.case.describe(number) for number, trial in enumerate(self.tried)]
        self.differing = {number for number, trial in enumerate(self.tried) if not trial.right}
        self._answers: list[dict[str, Value] | None] = [
            {"f": trial.f, "g": trial.g} if trial.kept else None for trial in self.tried
        ]

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `agrees`: the simulated functions f and g, and the descriptions of the cases."""
        return (SimulatedFunction("f"), SimulatedFunction("g"), self._told)

    @property
    def cost(self) -> float:
        """The number of calls of f and g, or 1 if there was no call."""
        return max(1, self.calls)

    @property
    def plain_cost(self) -> float:
        """Return the number of the baseline's calls: 2 per case, and 3 per row if g returns as many numbers as f."""
        rows = (len(trial.g) if len(trial.g) == len(trial.case.a) else 0 for trial in self.tried)
        return sum(2 + 3 * count for count in rows)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return the values and magnitudes of all rows for f(case), or the values for g(case)."""
        if len(arguments) != 1 or arguments[0] not in self._told:
            given = ", ".join(map(shown, arguments))
            raise ValueError(f"{name}(case) takes one of the cases from the list, unchanged. It got: {given}")
        self.calls += 1
        number = self._told.index(arguments[0])  # type: ignore[arg-type]  # it is in the list
        self.seen[name].add(number)
        if known := self._answers[number]:  # g keeps these tensors unchanged, so the answer is always the same
            return known[name]
        a, b = self._tensors[number]
        return list(reference(a, b)) if name == "f" else _quietly(self.implementation, a, b)

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is wrong, or came before the calls that could prove it, else None."""
        truth = not self.differing
        if answer not in (True, False):
            return Mismatch(str(truth), shown(answer), "Return True or False.")
        if answer != truth:
            return Mismatch(str(truth), str(answer), self._advice())
        both = self.seen["f"] & self.seen["g"]
        if truth and len(both) < len(self.tried):
            missing = min(set(range(len(self.tried))) - both)
            remark = f"You did not call both f and g on {self._named(missing)}."
            return Mismatch("True, after calls of f and g on every case", "True before these calls", remark)
        if not truth and not both & self.differing:
            seen = "1 case" if len(both) == 1 else f"{len(both)} cases"
            expected, got = "False, after a case that shows a difference", f"False after {seen} without a difference"
            return Mismatch(expected, got, "Call f and g on further cases before you return False.")
        return None

    def _advice(self) -> str:
        if not self.differing:
            return "In this scenario, rounding explains every difference, and g has NaN only where f has NaN."
        number = min(self.differing)
        return f"f and g differ on {len(self.differing)} cases, such as {self._named(number)}."

    def _named(self, number: int) -> str:
        case = self.tried[number].case
        rows, n = case.a.shape
        return f"case {number} ({case.about}; {rows} rows of {n}, {case.a.dtype})"


def _tried(implementation: Implementation, case: TensorPair) -> Trial:
    a, b = case.tensors()
    got = _quietly(implementation, a, b)
    values, magnitudes = reference(*case.tensors())
    allowed = (a.shape[1] + 1) * EPS[str(a.dtype)]
    kept = all(np.array_equal(*pair, equal_nan=True) for pair in zip((a, b), case.tensors(), strict=True))
    close = len(got) == len(values) and all(map(partial(_close, allowed), got, values, magnitudes))
    return Trial(case, [values, magnitudes], got, right=kept and close, kept=kept)


def _close(allowed: float, got: float, value: float, magnitude: float) -> bool:
    if np.isfinite(value):
        return abs(got - value) <= allowed * magnitude
    return bool(got == value or (np.isnan(got) and np.isnan(value)))


def _quietly(implementation: Implementation, a: Array, b: Array) -> list[float]:
    with np.errstate(all="ignore"):
        numbers: list[float] = implementation(a, b).tolist()
    return numbers


def draw_scenarios(rng: np.random.Generator) -> tuple[ComparisonScenario, ...]:
    """Return the scenarios for one grading in random order, each with its own inputs.

    The first input that shows the fault of a wrong g comes early in some scenarios and late in others. The positions
    are spread evenly, so that the number of calls before it does not depend on luck. For a right g, the inputs are put
    in order by the fault of one of the wrong functions. So neither the inputs nor their order show whether g is right.
    """
    faults = shuffled(rng, [g for _, g in WRONG])
    planted = [(*wrong, wrong[1]) for wrong in WRONG] * EACH
    planted += [(*right, fault) for right, fault in zip(RIGHT * EACH, faults, strict=True)]
    places = stratified(rng, 0.0, LATEST_FAULT, len(planted))
    return shuffled(rng, [_scenario(rng, *one, place) for one, place in zip(planted, places, strict=True)])


def _scenario(
    rng: np.random.Generator, title: str, g: Implementation, fault: Implementation, place: float
) -> ComparisonScenario:
    cases = shuffled(rng, [*_ordinary(rng), *_cancelling(rng), *_not_finite(rng)])
    showing = [number for number, case in enumerate(cases) if not _tried(fault, case).right]
    others = [number for number in range(len(cases)) if number not in showing]
    front = [*others[: int(place * len(cases))], showing[0]]
    order = [*front, *sorted(set(range(len(cases))) - set(front))]
    return ComparisonScenario(title, g, tuple(_tried(g, cases[number]) for number in order))


def _ordinary(rng: np.random.Generator) -> Iterator[TensorPair]:
    for dtype in ("float32", "float32", "float64", "int64"):
        for _ in range(3):
            yield _draw(rng, "ordinary", dtype)
        yield _draw(rng, "strided", dtype)
        yield _draw(rng, "no rows", dtype)
    for dtype in ("float32", "float64", "int64"):
        yield _draw(rng, "broadcast", dtype)
        yield _draw(rng, "the same tensor twice", dtype)
        yield _draw(rng, "rows of nothing", dtype)
    yield _draw(rng, "long rows", "float32")
    yield _draw(rng, "long rows", "float64")


def _cancelling(rng: np.random.Generator) -> Iterator[TensorPair]:
    for dtype in ("float32", "float64"):
        for _ in range(2):
            case = _draw(rng, "cancelling", dtype)
            n = case.a.shape[1]
            case.a[:, : n // 2] += 1e4
            case.a[:, n // 2 : n // 2 * 2] = -case.a[:, : n // 2]
            case.b[:, n // 2 : n // 2 * 2] = case.b[:, : n // 2] + case.b[:, : n // 2] * 2.0**-20
            yield case


def _not_finite(rng: np.random.Generator) -> Iterator[TensorPair]:
    for value, about in ((np.nan, "NaN in a row"), (np.inf, "infinity in a row")):
        case = _draw(rng, about, "float64")
        case.a[0, -1], case.b[0, -1] = value, 1.5
        yield case


RIGHT: list[tuple[str, Implementation]] = [
    ("a right g that adds in another order", implementations.one_after_the_other),
    ("a right g that adds in blocks", implementations.in_pairs),
    ("a right g that rounds once", implementations.exactly),
]
WRONG: list[tuple[str, Implementation]] = [
    ("a g that adds up in float32", implementations.in_single_precision),
    ("a g that replaces NaN by a number", implementations.without_nan),
    ("a g that ignores strides", implementations.without_strides),
    ("a g that works in place", implementations.in_place),
    ("a g that leaves out empty rows", implementations.without_empty_rows),
    ("a g that computes int64 in float64", implementations.through_float64),
]
"""The functions g, each with the title of its scenarios."""

EACH = 2
"""The number of scenarios for each function g."""

LATEST_FAULT = 0.3
"""The first input that shows a fault is among this share of the inputs: 0.3 means the first 30 %."""


def _draw(rng: np.random.Generator, about: str, dtype: str) -> TensorPair:
    rows = 0 if about == "no rows" else int(rng.integers(3, 9))
    n = 0 if about == "rows of nothing" else 1023 if about == "long rows" else 2 * int(rng.integers(2, 16)) + 1
    if dtype == "int64":
        # An odd number of odd products has an odd sum. It exceeds 2⁵³, so float64 cannot hold it.
        a, b = (rng.integers(2**27, 2**28, size=(rows, n)) * 2 + 1 for _ in range(2))
    else:
        a, b = (rng.uniform(0.5, 2, size=(rows, n)).astype(dtype) for _ in range(2))
    return TensorPair(about, a, b)


AGREES = Task(
    summary="accept three right implementations and reject six wrong ones, in few calls",
    cost=CALLS,
    tiers=(Tier(1.5, 0.6), Tier(3.5, 0.8), Tier(11, 1.0)),
    hints=(
        (
            "Which calls of f and g can you leave out? Do you need further calls after you have found one case with a "
            "difference?"
        ),
        (
            "Call g once and f once for each case. First compare how many values the two answers have. Then compare "
            "row by row: is f's value finite, NaN or infinite? A finite value, NaN and infinity each need their own "
            "comparison."
        ),
        (
            "Call g(case) before f(case), so that f computes from the tensors that g may have changed. Return False "
            "when the two answers have different lengths. Return False when f has NaN and g does not, or f is infinite "
            "and g differs. Return False when abs(g - f) exceeds (n + 1) * eps * magnitude. The case's dtype decides "
            "eps: 2**-23 for float32, 2**-52 for float64, and 0 for int64. Return True after the last case."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, needs_torch=True),
    read="lesson 01, “The default tolerances of allclose”",
    idea=(
        "The solution calls g and then f once per case, so that f computes from any tensor that g changed. Then the "
        "solution compares every row of the two answers. Where f returns NaN or infinity, g must return the same "
        "value. Where f returns a finite number, g must be within the rounding bound. The comparison is written so "
        "that NaN is never within the bound. The solution stops at the first difference, because one wrong case "
        "decides the answer."
    ),
    references=(
        "Higham, Accuracy and Stability of Numerical Algorithms, chapter 3, explains the rounding bound. The "
        "documentation of torch.testing.assert_close lists tolerances for each dtype."
    ),
)

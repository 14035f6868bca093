"""The worlds of `agrees`: cases, a reference f, and an implementation g that is right or has one planted fault.

The tensors stay here; the submission gets their descriptions, and asks f and g for the numbers. Both look at the same
tensors, so what one of them spoils the other sees. The cost is how often f and g were called.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from grader.task import Array, Metered, Mismatch
from grader.tasks.answers import shown
from grader.tasks.simulated import shuffled, stratified
from grader.values import Value

from . import implementations
from .implementations import Implementation, reference

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "int64": 0.0}
"""The distance from 1 to the next number; whole numbers are not rounded."""


@dataclass(frozen=True)
class Case:
    """Two tensors to come: `a` and `b` are their contents, `about` says how they lie in memory or what is in them."""

    about: str
    a: Array
    b: Array

    def tensors(self) -> tuple[Array, Array]:
        """Make them anew, in memory of their own."""
        a, b = self.a.copy(), self.b.copy()
        if self.about == "the same tensor twice":
            return a, a
        if self.about == "strided":
            return a, np.repeat(b, 2, axis=1)[:, ::2]
        if self.about == "broadcast":
            return a, np.broadcast_to(b[:1].copy(), a.shape)
        return a, b

    def describe(self, number: int) -> dict[str, Value]:
        """What the submission is told of it."""
        rows, n = self.a.shape
        return {"number": number, "rows": rows, "n": n, "dtype": str(self.a.dtype), "about": self.about}


@dataclass(frozen=True)
class Trial:
    """A case, what f and g say on it, whether g is right, and whether it leaves the tensors alone."""

    case: Case
    f: list[Value]
    g: list[float]
    right: bool
    kept: bool


@dataclass
class ComparisonWorld:
    """An implementation to be accepted or not, tried on each case. `differing` are the numbers of those it fails on."""

    title: str
    implementation: Implementation
    tried: tuple[Trial, ...]
    calls: int = 0
    seen: dict[str, set[int]] = field(default_factory=lambda: {"f": set(), "g": set()})
    function: str = "agrees"

    def __post_init__(self) -> None:
        self._tensors = [trial.case.tensors() for trial in self.tried]
        self._told = [trial.case.describe(number) for number, trial in enumerate(self.tried)]
        self.differing = {number for number, trial in enumerate(self.tried) if not trial.right}
        self._answers: list[dict[str, Value] | None] = [
            {"f": trial.f, "g": trial.g} if trial.kept else None for trial in self.tried
        ]

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The reference, the implementation, and the descriptions of the cases."""
        return (Metered("f"), Metered("g"), self._told)

    @property
    def cost(self) -> float:
        """How often f and g were called."""
        return self.calls

    @property
    def plain_cost(self) -> float:
        """Both once a case for how many numbers there are; then g once and f twice for each row, if these are equal."""
        rows = (len(trial.g) if len(trial.g) == len(trial.case.a) else 0 for trial in self.tried)
        return sum(2 + 3 * count for count in rows)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer f(case) with values and magnitudes of all rows, g(case) with values alone."""
        if len(arguments) != 1 or arguments[0] not in self._told:
            given = ", ".join(map(shown, arguments))
            raise ValueError(f"{name}(case) takes one of the cases, as it stands in the list; not {name}({given}).")
        self.calls += 1
        number = self._told.index(arguments[0])  # type: ignore[arg-type]  # it is in the list
        self.seen[name].add(number)
        if known := self._answers[number]:  # nothing spoils these tensors, so nothing changes the answer
            return known[name]
        a, b = self._tensors[number]
        return list(reference(a, b)) if name == "f" else _quietly(self.implementation, a, b)

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the truth, which the submission must also have seen."""
        truth = not self.differing
        if not isinstance(answer, bool):
            return Mismatch(str(truth), shown(answer), "Return True or False.")
        if answer is not truth:
            return Mismatch(str(truth), str(answer), self._advice())
        both = self.seen["f"] & self.seen["g"]
        if truth and len(both) < len(self.tried):
            missing = min(set(range(len(self.tried))) - both)
            remark = f"Nobody has asked both about {self._named(missing)}."
            return Mismatch("True, after f and g saw every case", "True before that", remark)
        if not truth and not both & self.differing:
            seen = "one on which they agree" if len(both) == 1 else f"{len(both)} on which they agree"
            return Mismatch("False, once a case shows it", f"False after {seen}", "What made you think they differ?")
        return None

    def _advice(self) -> str:
        if not self.differing:
            return "Rounding explains every difference here, and a NaN is in the right place when f has one there."
        number = min(self.differing)
        return f"They differ on {len(self.differing)} cases, such as {self._named(number)}."

    def _named(self, number: int) -> str:
        case = self.tried[number].case
        rows, n = case.a.shape
        return f"case {number} ({case.about}; {rows} rows of {n}, {case.a.dtype})"


def _tried(implementation: Implementation, case: Case) -> Trial:
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


def draw_worlds(rng: np.random.Generator) -> tuple[ComparisonWorld, ...]:
    """Draw the worlds in random order, each with cases of its own.

    In the wrong implementations' worlds the first case that shows the fault stands at another place each: how early it
    is found depends on no luck.
    """
    n_wrong = EACH * sum(planted[1] not in RIGHT for planted in PLANTED)
    places = iter(stratified(rng, 0.0, LATEST_FAULT, n_wrong))
    worlds = [
        _world(rng, *planted, 0.0 if planted[1] in RIGHT else next(places)) for planted in PLANTED for _ in range(EACH)
    ]
    return shuffled(rng, worlds)


def _world(
    rng: np.random.Generator, title: str, g: Implementation, groups: Sequence[str], place: float
) -> ComparisonWorld:
    """Draw the cases, in random order but for the first one on which g is wrong: it stands at `place`, a share."""
    cases = [case for group in groups for case in GROUPS[group](rng)]
    tried = [_tried(g, case) for case in shuffled(rng, cases)]
    wrong = [number for number, trial in enumerate(tried) if not trial.right]
    if wrong:
        agreeing = [number for number, trial in enumerate(tried) if trial.right]
        front = [*agreeing[: int(place * len(tried))], wrong[0]]
        tried = [tried[number] for number in (*front, *sorted(set(range(len(tried))) - set(front)))]
    return ComparisonWorld(title, g, tuple(tried))


def _ordinary(rng: np.random.Generator) -> Iterator[Case]:
    """Many ordinary cases of all dtypes, and some that lie in memory or hang together in an unusual way."""
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


def _precise(rng: np.random.Generator) -> Iterator[Case]:
    """The same without float32, in which hardly any sum is exact."""
    return (case for case in _ordinary(rng) if case.a.dtype != np.float32)


def _cancelling(rng: np.random.Generator) -> Iterator[Case]:
    """Sums in which a large value comes and goes: what is left is small, what rounding does to it is not."""
    for dtype in ("float32", "float64"):
        for _ in range(2):
            case = _draw(rng, "cancelling", dtype)
            n = case.a.shape[1]
            case.a[:, : n // 2] += 1e4
            case.a[:, n // 2 : n // 2 * 2] = -case.a[:, : n // 2]
            case.b[:, n // 2 : n // 2 * 2] = case.b[:, : n // 2] + case.b[:, : n // 2] * 2.0**-20
            yield case


def _not_finite(rng: np.random.Generator) -> Iterator[Case]:
    """A NaN or an infinity in one row."""
    for value, about in ((np.nan, "NaN in a row"), (np.inf, "infinity in a row")):
        case = _draw(rng, about, "float64")
        case.a[0, -1], case.b[0, -1] = value, 1.5
        yield case


GROUPS: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "ordinary": _ordinary,
    "precise": _precise,
    "cancelling": _cancelling,
    "not finite": _not_finite,
}

ALL = ("ordinary", "cancelling", "not finite")
PLANTED: tuple[tuple[str, Implementation, Sequence[str]], ...] = (
    ("a right g that adds in another order", implementations.one_after_the_other, ("ordinary", "cancelling")),
    ("a right g that adds in blocks", implementations.in_pairs, ("ordinary",)),
    ("a right g, exact, on rows with NaN too", implementations.exactly, ("precise", "not finite")),
    ("a g that adds up in float32", implementations.in_single_precision, ALL),
    ("a g that makes a number of NaN", implementations.without_nan, ALL),
    ("a g that ignores strides", implementations.without_strides, ALL),
    ("a g that works in place", implementations.in_place, ALL),
    ("a g that leaves out empty rows", implementations.without_empty_rows, ALL),
    ("a g that takes whole numbers through float64", implementations.through_float64, ALL),
)
"""What the world is called, its g, and the groups of cases it is tried on."""

RIGHT = (implementations.one_after_the_other, implementations.in_pairs, implementations.exactly)

EACH = 2
"""Worlds of each implementation."""

LATEST_FAULT = 0.3
"""The first case that shows a fault stands among this share of the cases."""


def _draw(rng: np.random.Generator, about: str, dtype: str) -> Case:
    rows = 0 if about == "no rows" else int(rng.integers(3, 9))
    n = 0 if about == "rows of nothing" else 1023 if about == "long rows" else 2 * int(rng.integers(2, 16)) + 1
    if dtype == "int64":
        # Odd numbers of odd products: the sum is odd and above 2⁵³, so no float64 can hold it.
        a, b = (rng.integers(2**27, 2**28, size=(rows, n)) * 2 + 1 for _ in range(2))
    else:
        a, b = (rng.uniform(0.5, 2, size=(rows, n)).astype(dtype) for _ in range(2))
    return Case(about, a, b)

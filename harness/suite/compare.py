"""Two runs of the suite side by side: what changed, in wall time and in instructions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from harness import units
from harness.suite.results import Result, Suite
from harness.tables import Table

SAME: Final = 0.005
"""Up to this relative difference, two counts are taken for the same."""

_Identity = tuple[tuple[str, ...], str, str, str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """One benchmark in two runs."""

    first: Result
    second: Result

    @property
    def time_change(self) -> float | None:
        """What the median wall time grew by, relative to the first; None where either run has none."""
        return _change(self.first.median_s, self.second.median_s)

    @property
    def count_change(self) -> float | None:
        """What the instructions grew by, relative to the first; None where either run has none."""
        return _change(self.first.instructions_per_run, self.second.instructions_per_run)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs: the benchmarks of both, those of one alone, and what differs of machine and software."""

    pairs: tuple[Pair, ...]
    only_first: tuple[Result, ...]
    only_second: tuple[Result, ...]
    differences: tuple[str, ...]

    @classmethod
    def of(cls, first: Suite, second: Suite) -> Self:
        """Match benchmarks by name and kind; their code may have changed, which is often the question."""
        left, right = ({_identity(result): result for result in suite.results} for suite in (first, second))
        return cls(
            tuple(Pair(result, right[name]) for name, result in left.items() if name in right),
            tuple(result for name, result in left.items() if name not in right),
            tuple(result for name, result in right.items() if name not in left),
            first.environment.differences(second.environment),
        )

    def table(self) -> Table:
        """One row a benchmark."""
        heads: dict[str, Callable[[float], str] | None] = {
            "benchmark": None,
            "kind": None,
            "time": units.seconds,
            "then": units.seconds,
            "change": signed_percent,
        }
        heads |= {"instructions": units.count, "then ": units.count, "change ": signed_percent}
        return Table.of("", heads, [_row(pair) for pair in self.pairs])

    def summary(self) -> str:
        """What stayed the same, in a few sentences."""
        said = [_within("instructions", [pair.count_change for pair in self.pairs])]
        said.append(_within("wall times", [pair.time_change for pair in self.pairs]))
        for results, where in ((self.only_first, "first"), (self.only_second, "second")):
            if results:
                said.append(f"{units.some(len(results), 'benchmark')} in the {where} run alone.")
        said += [f"The runs differ in {difference}." for difference in self.differences]
        return "\n".join(said)


def signed_percent(fraction: float) -> str:
    """A relative change with its sign; less than a millionth is none."""
    rounded = round(fraction, 6)
    return f"{'+' if rounded > 0 else ''}{units.percent(rounded)}"


def titled(result: Result) -> tuple[str, str]:
    """A benchmark's name and kind, as tables show them."""
    short = {
        "TorchScript": "script",
        "Compiled": "compiled",
        "Eager": "eager",
        "Forward": "fwd",
        "Forward + Backward": "fwd+bwd",
    }
    kinds = [short.get(each, each) for each in (result.runtime, result.autograd, result.language)]
    return " · ".join(result.label), " ".join(filter(None, [*kinds, f"×{result.num_threads}"]))


def _row(pair: Pair) -> Sequence[str | float | None]:
    first, second = pair.first, pair.second
    times = (first.median_s, second.median_s, pair.time_change)
    return (*titled(first), *times, first.instructions_per_run, second.instructions_per_run, pair.count_change)


def _identity(result: Result) -> _Identity:
    return result.label, result.runtime, result.autograd, result.language, result.num_threads


def _change(first: float | None, second: float | None) -> float | None:
    return second / first - 1 if first and second else None


def _within(what: str, changes: Sequence[float | None]) -> str:
    known = sorted((abs(change) for change in changes if change is not None), reverse=True)
    if not known:
        return f"No {what} in both runs."
    same = sum(change <= SAME for change in known)
    return (
        f"{what}: {same} of {len(known)} within {units.percent(SAME)}; "
        f"the middle change is {units.percent(known[len(known) // 2])}, the largest {units.percent(known[0])}."
    )

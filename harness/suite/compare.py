"""Compare two runs of the suite: compute the changes of wall times and instruction counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from harness.rendering import units
from harness.rendering.tables import Table
from harness.suite.results import Result, Suite

SAME: Final = 0.005
"""Two instruction counts, or two times, with at most this relative difference are regarded as equal."""


@dataclass(frozen=True, slots=True)
class BenchmarkChange:
    """The results of one benchmark in two runs."""

    first: Result
    second: Result

    @property
    def time_change(self) -> float | None:
        """The relative change of the median wall time (0.1 is 10 % slower), or None if a run has no times."""
        return _change(self.first.median_s, self.second.median_s)

    @property
    def count_change(self) -> float | None:
        """The relative change of the instruction count (0.1 is 10 % more), or None if a run has no counts."""
        return _change(self.first.instructions_per_run, self.second.instructions_per_run)


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """A comparison of two runs.

    `changes` has the benchmarks that are in both runs, `only_first` and `only_second` those in only one run.
    `differences` lists how the machines and the software of the two runs differ.
    """

    changes: tuple[BenchmarkChange, ...]
    only_first: tuple[Result, ...]
    only_second: tuple[Result, ...]
    differences: tuple[str, ...]

    @classmethod
    def of(cls, first: Suite, second: Suite) -> Self:
        """Return the comparison of two runs. Benchmarks are matched by name and kind, even if their code differs."""
        left, right = ({_identity(result): result for result in suite.results} for suite in (first, second))
        return cls(
            tuple(BenchmarkChange(result, right[name]) for name, result in left.items() if name in right),
            tuple(result for name, result in left.items() if name not in right),
            tuple(result for name, result in right.items() if name not in left),
            first.environment.differences(second.environment),
        )

    def table(self) -> Table:
        """Return a table with one row per benchmark: times, instructions and changes of the two runs."""
        heads: dict[str, Callable[[float], str] | None] = {"benchmark": None, "kind": None}
        heads |= {"time": units.seconds, "new time": units.seconds, "change": signed_percent}
        heads |= {"instructions": units.count, "new count": units.count, "change ": signed_percent}
        return Table.of("", heads, [_row(pair) for pair in self.changes])

    def summary(self) -> str:
        """Return a text: how many benchmarks have the same results in both runs, and how the runs differ."""
        lines = [
            _within("instructions", [pair.count_change for pair in self.changes]),
            _within("wall times", [pair.time_change for pair in self.changes]),
        ]
        for results, where in ((self.only_first, "first"), (self.only_second, "second")):
            if results:
                lines.append(f"{units.some(len(results), 'benchmark')} in the {where} run only.")
        lines += [f"The runs differ in {difference}." for difference in self.differences]
        return "\n".join(lines)


def signed_percent(fraction: float) -> str:
    """Return a relative change as a percentage with its sign. A change below a millionth becomes "0 %"."""
    rounded = round(fraction, 6)
    return f"{'+' if rounded > 0 else ''}{units.percent(rounded)}"


def titled(result: Result) -> tuple[str, str]:
    """Return the name of a benchmark, and its kind as tables show it, such as "eager fwd Python"."""
    short = {"TorchScript": "script", "Compiled": "compiled", "Eager": "eager"}
    short |= {"Forward": "fwd", "Forward + Backward": "fwd+bwd"}
    kinds = [short.get(each, each) for each in (result.runtime, result.autograd, result.language)]
    return " · ".join(result.label), " ".join(filter(None, [*kinds, f"×{result.num_threads}"]))


def _row(pair: BenchmarkChange) -> Sequence[str | float | None]:
    first, second = pair.first, pair.second
    times = (first.median_s, second.median_s, pair.time_change)
    return (*titled(first), *times, first.instructions_per_run, second.instructions_per_run, pair.count_change)


def _identity(result: Result) -> tuple[tuple[str, ...], str, str, str, int]:
    return result.label, result.runtime, result.autograd, result.language, result.num_threads


def _change(first: float | None, second: float | None) -> float | None:
    return second / first - 1 if first and second else None


def _within(what: str, changes: Sequence[float | None]) -> str:
    known = sorted((abs(change) for change in changes if change is not None), reverse=True)
    if not known:
        return f"No benchmark has {what} in both runs."
    same = sum(change <= SAME for change in known)
    return (
        f"{what}: {same} of {len(known)} within {units.percent(SAME)}; "
        f"the median change is {units.percent(known[len(known) // 2])}, the largest {units.percent(known[0])}."
    )

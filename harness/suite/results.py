"""The results of a run of the suite, the file that stores them, and the comparison of two runs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.rendering import units
from harness.rendering.tables import Table
from harness.storage.user_files import write_whole
from harness.suite.expand import LANGUAGES, Benchmark
from harness.suite.types import Label

SAME: Final = 0.005  # counts or times with at most this relative difference are regarded as equal


@dataclass(frozen=True, slots=True)
class SuiteSettings:
    """The settings of a run of the suite: the seconds of wall time per benchmark, and how instructions are counted.

    Instructions are counted `repeats` times, each time for `number` runs of the statement.
    """

    min_run_time_s: float = 0.5
    number: int = 100
    repeats: int = 5


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one benchmark with its samples.

    `times_s` holds the samples in seconds per run. Each sample is the mean over a block of `runs_per_sample` runs.
    `instructions` has one count per repeat: the instructions of `number` runs without dictionary lookups. Three fields
    hold a reason, or "": why a benchmark that was run has no times (`failure`), why it was not run (`left_out`: torch,
    Python or the machine lacks something), and why it has no counts (`uncounted`).
    """

    label: Label
    runtime: str
    autograd: str
    language: str
    num_threads: int
    key: str
    cores: tuple[int, ...] = ()
    runs_per_sample: int = 0
    times_s: tuple[float, ...] = ()
    number: int = 0
    instructions: tuple[int, ...] = ()
    failure: str = ""
    uncounted: str = ""
    left_out: str = ""

    @classmethod
    def of(cls, benchmark: Benchmark) -> Self:
        """Return an empty result for a benchmark that was not measured yet."""
        name = benchmark.label, benchmark.runtime, benchmark.autograd
        return cls(*name, LANGUAGES[benchmark.args.language], benchmark.args.num_threads, benchmark.key)

    @property
    def median_s(self) -> float | None:
        """The median wall time per run in seconds, or None if there are no samples."""
        return median(self.times_s) if self.times_s else None

    @property
    def instructions_per_run(self) -> float | None:
        """The median number of instructions per run without the warm-up, the first of several counts, or None."""
        kept = self.instructions[1:] or self.instructions
        return median(kept) / self.number if kept else None


@dataclass(frozen=True, slots=True)
class Suite:
    """A run of the suite: the results in the order of the definitions, the environment and the settings."""

    environment: Environment
    settings: SuiteSettings
    results: tuple[Result, ...]


def load(path: Path) -> Suite:
    """Return the run that a file holds. Raise `UsageError` if the file is missing or has other content."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        results: list[dict[str, Any]] = [
            {name: tuple(value) if isinstance(value, list) else value for name, value in each.items()}
            for each in record["results"]
        ]
        return Suite(
            Environment.from_dict(record["environment"]),
            SuiteSettings(**record["settings"]),
            tuple(Result(**each) for each in results),
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); measure with --out {path} first.") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{path} does not hold results of harness.suite ({error}); name another file, or delete it."
        ) from error


def save(suite: Suite, path: Path, *, durable: bool = True) -> None:
    """Write the results of a run to a file, as `write_whole`."""
    record = {
        "format": 1,
        "environment": suite.environment.to_dict(),
        "settings": asdict(suite.settings),
        "results": [asdict(result) for result in suite.results],
    }
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False).encode(), durable=durable)


def earlier_results(path: Path, environment: Environment, settings: SuiteSettings) -> dict[str, Result]:
    """Return the results of an earlier run by the keys of the benchmarks, or {} if there is no file.

    Benchmarks that failed or were left out will be measured again. Raise `UsageError` if the run had other settings or
    another environment.
    """
    if not path.exists():
        return {}
    earlier = load(path)
    differing = (
        list(environment.differences(earlier.environment))
        if environment.fingerprint() != earlier.environment.fingerprint()
        else []
    )
    if settings != earlier.settings:
        differing.append(f"settings: {asdict(settings)}, {asdict(earlier.settings)}")
    if differing:
        raise UsageError(
            f"An earlier run of this file had other settings ({'; '.join(differing)}). Name another --out, or "
            "measure everything again with --fresh."
        )
    return {result.key: replace(result, failure="", left_out="") for result in earlier.results}


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
    """The benchmarks that are in both runs, those in only one run, and how machines and software differ."""

    changes: tuple[BenchmarkChange, ...]
    only_first: tuple[Result, ...]
    only_second: tuple[Result, ...]
    differences: tuple[str, ...]

    @classmethod
    def of(cls, first: Suite, second: Suite) -> Self:
        """Return the comparison of two runs. Benchmarks are matched by name and kind, even if their code differs."""
        left, right = ({titled(result): result for result in suite.results} for suite in (first, second))
        return cls(
            tuple(BenchmarkChange(result, right[name]) for name, result in left.items() if name in right),
            tuple(result for name, result in left.items() if name not in right),
            tuple(result for name, result in right.items() if name not in left),
            first.environment.differences(second.environment),
        )

    def table(self) -> Table:
        """Return the times and instructions of each benchmark in the two runs, with their changes."""
        heads: dict[str, Callable[[float], str] | None] = {"benchmark": None, "kind": None}
        heads |= {"time": units.seconds, "new time": units.seconds, "change": signed_percent}
        heads |= {"instructions": units.count, "new count": units.count, "change ": signed_percent}
        rows = []
        for pair in self.changes:
            times = (pair.first.median_s, pair.second.median_s, pair.time_change)
            counts = (pair.first.instructions_per_run, pair.second.instructions_per_run, pair.count_change)
            rows.append((*titled(pair.first), *times, *counts))
        return Table.of("", heads, rows)

    def summary(self) -> str:
        """Return how many benchmarks have the same results in both runs, and how the runs differ."""
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
    short = {"Compiled": "compiled", "Eager": "eager"}
    short |= {"Forward": "fwd", "Forward + Backward": "fwd+bwd"}
    kinds = [short.get(each, each) for each in (result.runtime, result.autograd, result.language)]
    return " · ".join(result.label), " ".join(filter(None, [*kinds, f"×{result.num_threads}"]))


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

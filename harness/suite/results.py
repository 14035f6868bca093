"""The results of a run of the suite, with all samples, and the file that stores them.

During a run, the file is written again after each result, atomically. So if a run is killed, only the unfinished
measurements are lost.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.storage.user_files import write_whole
from harness.suite.expand import LANGUAGES, Benchmark
from harness.suite.types import Label

FORMAT: Final = 1


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
    `instructions` has one count per repeat: the instructions of `number` runs without dictionary lookups. `cached`
    means that the counts come from an earlier run with the same software. Three fields hold a reason, or "". `failure`
    is the reason why a benchmark that was run has no times. `left_out` is the reason why the benchmark was not run:
    torch, Python or the machine lacks something. `uncounted` is the reason why it has no counts.
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
    cached: bool = False
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
        """The median number of instructions per run, or None if there are no counts.

        If there are several counts, the first one is a warm-up and is not used.
        """
        kept = self.instructions[1:] or self.instructions
        return median(kept) / self.number if kept else None

    @property
    def complete(self) -> bool:
        """Whether the benchmark has wall times, and also instruction counts or a reason why there are none."""
        return bool(self.times_s and (self.instructions or self.uncounted))


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
        return Suite(
            Environment.from_dict(record["environment"]),
            SuiteSettings(**record["settings"]),
            tuple(_result(each) for each in record["results"]),
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); measure with --out {path} first.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} does not hold results of harness.suite ({error}); measure again.") from error


def _result(record: Mapping[str, Any]) -> Result:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return Result(**values)


def is_suite(path: Path) -> bool:
    """Return whether a file holds the results of a run of the suite."""
    try:
        load(path)
    except UsageError:
        return False
    return True


def save(suite: Suite, path: Path, *, durable: bool = True) -> None:
    """Write the results of a run to a file, atomically. With `durable`, they are then on the disk."""
    record = {
        "format": FORMAT,
        "environment": suite.environment.to_dict(),
        "settings": asdict(suite.settings),
        "results": [asdict(result) for result in suite.results],
    }
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False).encode(), durable=durable)


def earlier_results(path: Path, environment: Environment, settings: SuiteSettings) -> dict[str, Result]:
    """Return the results of a complete or stopped run by the keys of the benchmarks, or {} if there is no file.

    Benchmarks that failed or were left out will be measured again. Raise `UsageError` if the run had other settings or
    another environment, because such results cannot be combined.
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

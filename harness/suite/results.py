"""The results of a run of the suite, with all samples, and the files that store them.

During a run, each result is added to a journal as one JSON line. At the end of the run, the file of results is written
atomically in the same folder, and the journal is deleted. If a run is killed, only the unfinished measurements are
lost.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.storage.whole_files import write_whole
from harness.suite.benchmark import LANGUAGES, Benchmark
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
        args = benchmark.args
        return cls(
            benchmark.label,
            benchmark.runtime,
            benchmark.autograd,
            LANGUAGES[args.language],
            args.num_threads,
            benchmark.key,
        )

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

    def to_dict(self) -> dict[str, Any]:
        """Return the result of the benchmark as a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` converted to `record`.

        Raise `KeyError` or `TypeError` for any other dictionary. Records of older versions have no `left_out`.
        """
        record = {"left_out": "", **record}
        values: dict[str, Any] = {field.name: record[field.name] for field in fields(cls)}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Suite:
    """A run of the suite: the results in the order of the definitions, the environment and the settings."""

    environment: Environment
    settings: SuiteSettings
    results: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the run of the suite as a dictionary for JSON."""
        return {
            "format": FORMAT,
            "environment": self.environment.to_dict(),
            "settings": asdict(self.settings),
            "results": [result.to_dict() for result in self.results],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the run that `to_dict` converted to `record`. Raise `UsageError` for any other dictionary."""
        try:
            return cls(
                Environment.from_dict(record["environment"]),
                SuiteSettings(**record["settings"]),
                tuple(Result.from_dict(each) for each in record["results"]),
            )
        except (KeyError, TypeError) as error:
            raise UsageError(f"This file does not hold results of harness.suite ({error}); measure again.") from error


def load(path: Path) -> Suite:
    """Return the run that a file holds. Raise `UsageError` if the file is missing or has other content."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); measure with --out {path} first.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not a JSON file ({error}); measure again.") from error
    return Suite.from_dict(record if isinstance(record, dict) else {})


def is_suite(path: Path) -> bool:
    """Return whether a file holds the results of a run of the suite."""
    try:
        load(path)
    except (UsageError, ValueError):
        return False
    return True


def save(suite: Suite, path: Path) -> None:
    """Write the results of a run to a file, atomically."""
    write_whole(path, json.dumps(suite.to_dict(), indent=1, ensure_ascii=False).encode())


class Journal:
    """The results of an unfinished run, stored in `FILE.part`. A later line replaces earlier lines of a benchmark."""

    def __init__(self, out: Path, environment: Environment, settings: SuiteSettings) -> None:
        self.path = out.with_name(f"{out.name}.part")
        self._head = {"environment": environment.to_dict(), "settings": asdict(settings)}
        self.results: dict[str, Result] = {}

    def resume(self, out: Path) -> int:
        """Load the results of an earlier run, and return the number of benchmarks that have results.

        Raise `UsageError` if the earlier run had other settings or another environment, because such results cannot be
        combined.
        """
        if out.exists():
            earlier = load(out)
            self._require_same(asdict(earlier.settings), earlier.environment)
            self._take(earlier.results)
        if self.path.exists():
            head, *lines = self.path.read_text(encoding="utf-8").splitlines() or [""]
            records = [record for line in (head, *lines) if (record := _parsed(line)) is not None]
            if records and "settings" in records[0]:
                self._require_same(records[0]["settings"], Environment.from_dict(records[0]["environment"]))
                self._take(Result.from_dict(record) for record in records[1:])
        return len(self.results)

    def _require_same(self, settings: object, environment: Environment) -> None:
        mine = Environment.from_dict(self._head["environment"])
        differing = list(mine.differences(environment)) if mine.fingerprint() != environment.fingerprint() else []
        if settings != self._head["settings"]:
            differing.append(f"settings: {self._head['settings']}, {settings}")
        if differing:
            raise UsageError(
                f"An earlier run of this file had other settings ({'; '.join(differing)}). Name another --out, or "
                "measure everything again with --fresh."
            )

    def _take(self, results: Iterable[Result]) -> None:
        # Benchmarks that failed or were left out will be measured again.
        self.results |= {result.key: replace(result, failure="", left_out="") for result in results}

    def begin(self) -> None:
        """Write a new journal file with all results that `resume` has loaded."""
        with self.path.open("w", encoding="utf-8") as file:
            file.write(f"{json.dumps(self._head)}\n")
            file.writelines(f"{json.dumps(result.to_dict())}\n" for result in self.results.values())

    def keep(self, result: Result) -> None:
        """Add one result to the journal."""
        self.results[result.key] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(result.to_dict())}\n")

    def close(self) -> None:
        """Delete the journal. Call this after the file of results was written."""
        self.path.unlink(missing_ok=True)


def _parsed(line: str) -> dict[str, Any] | None:
    """Return the record in a line of the journal, or None if a killed run left the line incomplete."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None

"""What a run of the suite found: one result a benchmark, raw samples and all, and the file that keeps them.

A run that is under way keeps its results in a journal beside its file, one JSON line each as they come; the file itself
is written at the end, whole. A run that was killed loses what it was measuring just then.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from harness.environment import Environment
from harness.errors import UsageError
from harness.files import put
from harness.suite.types import Label
from harness.suite.work import LANGUAGES, Work

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run measures: wall times for at least `min_run_time_s`, and `repeats` counts of `number` runs each."""

    min_run_time_s: float = 0.5
    number: int = 100
    repeats: int = 5


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark's samples.

    `times_s` are seconds a run, each the mean over a block of `runs_per_sample`. `instructions` are counts of `number`
    runs, searches in dictionaries left out, one for each repeat; `cached` says that they come from an earlier run, on
    the same software. Three texts are empty, or say why something is missing: `failure`, why the benchmark has no times
    although it was run; `left_out`, why it was not run: this torch, Python or machine lacks what it needs; `uncounted`,
    why it has no counts.
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
    def of(cls, work: Work) -> Self:
        """A benchmark of which nothing is known yet."""
        args = work.args
        return cls(work.label, work.runtime, work.autograd, LANGUAGES[args.language], args.num_threads, work.key)

    @property
    def median_s(self) -> float | None:
        """The middle of the wall times, in seconds a run; None without any."""
        return median(self.times_s) if self.times_s else None

    @property
    def instructions_per_run(self) -> float | None:
        """The middle of the counts, for one run; None without any. The first of several is left out: it warms up."""
        kept = self.instructions[1:] or self.instructions
        return median(kept) / self.number if kept else None

    @property
    def complete(self) -> bool:
        """Whether there is nothing more to measure."""
        return bool(self.times_s and (self.instructions or self.uncounted))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return what `to_dict` was made of. Raises `KeyError` or `TypeError` for anything else.

        Files from before `left_out` have none.
        """
        record = {"left_out": "", **record}
        values: dict[str, Any] = {field.name: record[field.name] for field in fields(cls)}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Suite:
    """A whole run: its results in the order of their definitions, what they were measured on, and how."""

    environment: Environment
    settings: Settings
    results: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "environment": self.environment.to_dict(),
            "settings": asdict(self.settings),
            "results": [result.to_dict() for result in self.results],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """What `to_dict` was made of. Raises `UsageError` for anything else."""
        try:
            return cls(
                Environment.from_dict(record["environment"]),
                Settings(**record["settings"]),
                tuple(Result.from_dict(each) for each in record["results"]),
            )
        except (KeyError, TypeError) as error:
            raise UsageError(f"This is no result of harness.suite ({error}); measure again.") from error


def load(path: Path) -> Suite:
    """Read the file of a run. Raises `UsageError` where there is none, or another."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); measure with --out {path} first.") from error
    except ValueError as error:
        raise UsageError(f"{path} is no JSON file ({error}); measure again.") from error
    return Suite.from_dict(record if isinstance(record, dict) else {})


def is_suite(path: Path) -> bool:
    """Return whether a file holds the results of a run."""
    try:
        load(path)
    except (UsageError, ValueError):
        return False
    return True


def save(suite: Suite, path: Path) -> None:
    """Write the file of a run, whole or not at all."""
    put(path, json.dumps(suite.to_dict(), indent=1, ensure_ascii=False).encode())


class Journal:
    """The results of a run under way, in `FILE.part`. The last line on a benchmark is what counts."""

    def __init__(self, out: Path, environment: Environment, settings: Settings) -> None:
        self.path = out.with_name(f"{out.name}.part")
        self._head = {"environment": environment.to_dict(), "settings": asdict(settings)}
        self.results: dict[str, Result] = {}

    def resume(self, out: Path) -> int:
        """Take over what an earlier run has measured; return how many benchmarks that are.

        Raises `UsageError` where it measured otherwise or elsewhere: such results do not mix.
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
                f"An earlier run of this file measured otherwise ({'; '.join(differing)}). Name another --out, or "
                "measure all of it again with --fresh."
            )

    def _take(self, results: Iterable[Result]) -> None:
        """Benchmarks that failed or were left out are tried again."""
        self.results |= {result.key: replace(result, failure="", left_out="") for result in results}

    def begin(self) -> None:
        """Write down all that is known so far, and whatever comes from now on."""
        with self.path.open("w", encoding="utf-8") as file:
            file.write(f"{json.dumps(self._head)}\n")
            file.writelines(f"{json.dumps(result.to_dict())}\n" for result in self.results.values())

    def keep(self, result: Result) -> None:
        """Write down one result."""
        self.results[result.key] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(result.to_dict())}\n")

    def close(self) -> None:
        """The file itself is written: the journal can go."""
        self.path.unlink(missing_ok=True)


def _parsed(line: str) -> dict[str, Any] | None:
    """A line's record; None for one that was being written when its run was killed."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None

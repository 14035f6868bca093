"""Save `Measurement`s and `CallgrindStats` with their environments and all samples, one JSON object per line."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from torch.utils.benchmark import CallgrindStats, Compare, FunctionCounts, Measurement
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount

from harness.errors import UsageError
from harness.machine.environment import Environment

Result = Measurement | CallgrindStats

_COUNTS: Final = ("baseline_inclusive", "baseline_exclusive", "stmt_inclusive", "stmt_exclusive")


@dataclass(frozen=True, slots=True, eq=False)
class SavedResult:
    """A result of torch with its environment. Two `SavedResult`s are equal if all their saved values are equal."""

    result: Result
    environment: Environment

    @property
    def env(self) -> str:
        """The name of the environment: Timer's argument `env=`, or else the fingerprint."""
        return self.result.task_spec.env or self.environment.fingerprint()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SavedResult) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.result.task_spec, self.environment))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON, with times in seconds. `from_dict` reads it."""
        place = {"environment": self.environment.to_dict(), "fingerprint": self.environment.fingerprint()}
        if isinstance(self.result, CallgrindStats):
            return {"kind": "callgrind", **place, **callgrind_to_dict(self.result)}
        samples = {"raw_times_s": list(self.result.raw_times), "metadata": self.result.metadata}
        return {"kind": "measurement", **place, **_task_to_dict(self.result), **samples}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "SavedResult":
        """Return the result that `to_dict` converted to `record`. Raise an exception for any other dictionary."""
        result = {"measurement": _measurement, "callgrind": callgrind_from_dict}[record["kind"]](record)
        return cls(result, Environment.from_dict(record["environment"]))


def with_environment(results: Iterable[Result], environment: Environment | None = None) -> tuple[SavedResult, ...]:
    """Return the results, each with an environment. By default, this is the environment of this process."""
    here = environment or Environment.capture()
    return tuple(SavedResult(result, here) for result in results)


def save(saved: Iterable[SavedResult], path: Path) -> None:
    """Write results to a file. Raise `UsageError` if it cannot be written, or if JSON cannot store the metadata."""
    try:
        lines = [json.dumps(each.to_dict(), ensure_ascii=False, allow_nan=False) for each in saved]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(f"{path} cannot be written ({error}); name another file, or correct the metadata.") from error


def load(path: Path) -> tuple[SavedResult, ...]:
    """Return the results in a file, in the order in which they were saved.

    Raise `UsageError` if the file cannot be read or has other content.
    """
    try:
        with path.open("rb") as file:
            return tuple(_loaded(file, path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); save results there first.") from error


def table(saved: Sequence[SavedResult]) -> Compare:
    """Return torch's table of all saved measurements. Raise `UsageError` if there are none.

    Each row begins with the name of its environment, or `Compare` would merge equal rows of two environments.
    """
    names = env_names(saved)
    shown = []
    for each in saved:
        if isinstance(each.result, Measurement):
            task, env = each.result.task_spec, names[each.environment, each.env]
            # `Compare` prints the description as the heading of a column, and fails without one.
            task = replace(task, env=env, description=task.description or "time")
            shown.append(replace(each.result, task_spec=task))
    if not shown:
        raise UsageError("There is no measurement for a table. Compare counts with `delta`.")
    return Compare(shown)


def env_names(saved: Iterable[SavedResult]) -> dict[tuple[Environment, str], str]:
    """Return a unique name for each environment: Timer's argument `env`, with the fingerprint if several share it."""
    prints = {(each.environment, each.env): each.environment.fingerprint() for each in saved}
    machines = Counter(env for _, env in {(fingerprint, env) for (_, env), fingerprint in prints.items()})
    return {
        (environment, env): f"{env} {fingerprint}" if machines[env] > 1 else env
        for (environment, env), fingerprint in prints.items()
    }


def callgrind_to_dict(stats: CallgrindStats) -> dict[str, Any]:
    """Return the counts as a dictionary for JSON, which `callgrind_from_dict` reads."""
    counts: dict[str, Any] = {}
    for name in _COUNTS:
        found = getattr(stats, f"{name}_stats")
        rows = [[row.count, row.function] for row in found]
        counts[name] = {"inclusive": found.inclusive, "truncate_rows": found.truncate_rows, "rows": rows}
    rest = {"debug_symbols": stats.built_with_debug_symbols, "callgrind_out": stats.stmt_callgrind_out}
    return {**_task_to_dict(stats), **counts, **rest}


def callgrind_from_dict(record: Mapping[str, Any]) -> CallgrindStats:
    """Return the counts that `callgrind_to_dict` converted to `record`."""
    counts: dict[str, Any] = {}
    for name in _COUNTS:
        rows = tuple(FunctionCount(count, function) for count, function in record[name]["rows"])
        counts[f"{name}_stats"] = FunctionCounts(rows, record[name]["inclusive"], record[name]["truncate_rows"])
    task, built, out = TaskSpec(**record["task"]), record["debug_symbols"], record["callgrind_out"]
    return CallgrindStats(task, record["number_per_run"], built, stmt_callgrind_out=out, **counts)


def _task_to_dict(result: Result) -> dict[str, Any]:
    return {"task": asdict(result.task_spec), "number_per_run": result.number_per_run}


def _measurement(record: Mapping[str, Any]) -> Result:
    task, times_s = TaskSpec(**record["task"]), [float(seconds) for seconds in record["raw_times_s"]]
    return Measurement(record["number_per_run"], times_s, task, record["metadata"])


def _loaded(lines: Iterable[bytes], path: Path) -> Iterator[SavedResult]:
    for number, line in enumerate(lines, start=1):
        try:
            yield SavedResult.from_dict(json.loads(line))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{path}, line {number}, is not a saved result ({type(error).__name__}: {error}). Measure again."
            ) from error

"""Results that outlive their process: `Measurement`s and `CallgrindStats` with the environment they were made in.

Two formats, told apart by the file's name, both with one record after the other, so that the results of another day or
another machine are added at the end:

    .jsonl   one JSON object a line, every sample in it; plain text that any tool reads for years
    .pkl     one pickle a record: Python's own, for as long as torch does not change its classes. Loading a pickle runs
             what is written in it: load none that you would not run

Both give back what was kept, sample for sample, and `Kept` can say so: `==` of two `CallgrindStats` is true of one and
the same object alone, so kept results compare their contents.
"""

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from torch.utils.benchmark import CallgrindStats, Compare, FunctionCounts, Measurement
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount

from harness.environment import Environment
from harness.errors import UsageError

Result = Measurement | CallgrindStats

_COUNTS: Final = ("baseline_inclusive", "baseline_exclusive", "stmt_inclusive", "stmt_exclusive")
"""The four tables of a `CallgrindStats`, each in an attribute of this name with `_stats` behind it."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A result and the environment it was made in. Equal when all that is kept of both is equal."""

    result: Result
    environment: Environment

    @property
    def env(self) -> str:
        """The environment's name: what the Timer was told as `env=`, else the fingerprint of the environment."""
        return self.result.task_spec.env or self.environment.fingerprint()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.result.task_spec, self.environment))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; `from_dict` takes them back. Times are in seconds."""
        told = {
            "environment": self.environment.to_dict(),
            "fingerprint": self.environment.fingerprint(),
            "task": asdict(self.result.task_spec),
            "number_per_run": self.result.number_per_run,
        }
        if isinstance(self.result, Measurement):
            samples = {"raw_times_s": list(self.result.raw_times), "metadata": self.result.metadata}
            return {"kind": "measurement", **told, **samples}
        counts = {name: _counts_to_dict(getattr(self.result, f"{name}_stats")) for name in _COUNTS}
        rest = {"debug_symbols": self.result.built_with_debug_symbols, "callgrind_out": self.result.stmt_callgrind_out}
        return {"kind": "callgrind", **told, **counts, **rest}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Kept":
        """Return what `to_dict` was made of. Raises `UsageError` for a record that is none of ours."""
        try:
            return cls(_KINDS[record["kind"]](record), Environment.from_dict(record["environment"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"This is no kept result ({type(error).__name__}: {error}); it was written by something else or "
                "changed by hand: measure again."
            ) from error


def keep(results: Iterable[Result], environment: Environment | None = None) -> tuple[Kept, ...]:
    """Put results beside the environment they were made in: this one, unless told otherwise."""
    here = environment or Environment.capture()
    return tuple(Kept(result, here) for result in results)


def save(kept: Iterable[Kept], path: Path, *, append: bool = False) -> None:
    """Write results to `path`, whose name ends in .jsonl or .pkl; `append` leaves what is there and adds them.

    Raises `UsageError` for another name, for a file that cannot be written, and for metadata that JSON cannot hold.
    """
    encode, _ = _format(path)
    try:
        records = [encode(each) for each in kept]
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"A result does not fit into {path.name} ({error}); keep plain metadata, or a .pkl."
        ) from error
    try:
        with path.open("ab" if append else "wb") as file:
            file.writelines(records)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another file.") from error


def load(path: Path) -> tuple[Kept, ...]:
    """Return the results kept in `path`, in the order they were written.

    Raises `UsageError` for another name, for a file that cannot be read, and for one that holds anything else.
    """
    _, decode = _format(path)
    try:
        with path.open("rb") as file:
            return tuple(decode(file, path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); save results there first.") from error


def table(kept: Sequence[Kept]) -> Compare:
    """Return torch's table of all kept measurements, with a name for each environment in front of its rows.

    Of two results that agree in all that Timer was told, `Compare` makes one: without names the results of two
    environments would be mixed. Here they never are. Raises `UsageError` when there is no measurement to show.
    """
    names = env_names(kept)
    shown = [
        replace(each.result, task_spec=_shown(each.result.task_spec, names[each.environment, each.env]))
        for each in kept
        if isinstance(each.result, Measurement)
    ]
    if not shown:
        raise UsageError("There is no measurement to make a table of; counts are compared with `delta`.")
    return Compare(shown)


def env_names(kept: Iterable[Kept]) -> dict[tuple[Environment, str], str]:
    """Return a name for each environment and `env=`; where one `env=` stands for several, their fingerprints tell."""
    pairs = dict.fromkeys((each.environment, each.env) for each in kept)
    prints: dict[str, set[str]] = {}
    for environment, env in pairs:
        prints.setdefault(env, set()).add(environment.fingerprint())
    return {
        (environment, env): f"{env} {environment.fingerprint()}" if len(prints[env]) > 1 else env
        for environment, env in pairs
    }


def _shown(task: TaskSpec, env: str) -> TaskSpec:
    """Return what `Compare` needs to know: it fails where the description, its column's heading, is missing."""
    return replace(task, env=env, description=task.description or "time")


def _counts_to_dict(counts: FunctionCounts) -> dict[str, Any]:
    rows = [[row.count, row.function] for row in counts]
    return {"inclusive": counts.inclusive, "truncate_rows": counts.truncate_rows, "rows": rows}


def _counts_from_dict(record: Mapping[str, Any]) -> FunctionCounts:
    rows = tuple(FunctionCount(count, function) for count, function in record["rows"])
    return FunctionCounts(rows, record["inclusive"], record["truncate_rows"])


def _measurement(record: Mapping[str, Any]) -> Measurement:
    task = TaskSpec(**record["task"])
    return Measurement(record["number_per_run"], [float(s) for s in record["raw_times_s"]], task, record["metadata"])


def _callgrind(record: Mapping[str, Any]) -> CallgrindStats:
    counts = {f"{name}_stats": _counts_from_dict(record[name]) for name in _COUNTS}
    return CallgrindStats(
        task_spec=TaskSpec(**record["task"]),
        number_per_run=record["number_per_run"],
        built_with_debug_symbols=record["debug_symbols"],
        stmt_callgrind_out=record["callgrind_out"],
        **counts,
    )


_KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Result]]] = {
    "measurement": _measurement,
    "callgrind": _callgrind,
}


def _to_line(kept: Kept) -> bytes:
    return json.dumps(kept.to_dict(), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _from_lines(file: BinaryIO, path: Path) -> Iterator[Kept]:
    for number, line in enumerate(file, start=1):
        try:
            yield Kept.from_dict(json.loads(line))
        except (ValueError, UsageError) as error:
            raise UsageError(f"{path}, line {number}: {error}") from error


def _from_pickles(file: BinaryIO, path: Path) -> Iterator[Kept]:
    while file.peek(1) if hasattr(file, "peek") else True:
        try:
            kept = pickle.load(file)  # noqa: S301 - the caller's own file, as the module says
        except (EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError) as error:
            raise UsageError(f"{path} is not a file of kept results ({error}); measure again.") from error
        if not isinstance(kept, Kept):
            raise UsageError(f"{path} holds a {type(kept).__name__} where a kept result was expected.")
        yield kept


_Encode = Callable[[Kept], bytes]
_Decode = Callable[[BinaryIO, Path], Iterator[Kept]]
_FORMATS: Final[Mapping[str, tuple[_Encode, _Decode]]] = {
    ".jsonl": (_to_line, _from_lines),
    ".pkl": (pickle.dumps, _from_pickles),
}


def _format(path: Path) -> tuple[_Encode, _Decode]:
    if path.suffix not in _FORMATS:
        raise UsageError(f"{path.name} says no format; end it in {' or '.join(_FORMATS)}.")
    return _FORMATS[path.suffix]

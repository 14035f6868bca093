"""Store the instruction counts of code snippets for later runs: one JSON file per snippet."""

from typing import Any, Final

from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats, FunctionCount, FunctionCounts

from harness.storage import disk_cache

KIND: Final = "callgrind"
"""The name of the folder in the cache that holds the counts of snippets."""


def load(key: str) -> tuple[CallgrindStats, ...] | None:
    """Return the counts that were stored under this key, or None if they are missing or cannot be read."""
    try:
        return decode(disk_cache.load(KIND, key))
    except (ValueError, KeyError, TypeError):
        return None


def keep(key: str, runs: tuple[CallgrindStats, ...]) -> None:
    """Store counts under this key, so that `load` returns them in later runs."""
    disk_cache.keep(KIND, key, encode(runs))


def encode(runs: tuple[CallgrindStats, ...]) -> list[dict[str, Any]]:
    """Return the counts of a snippet as a value for JSON, which `decode` reads."""
    return [_encode(each) for each in runs]


def decode(runs: Any) -> tuple[CallgrindStats, ...]:
    """Return the counts that `encode` converted to `runs`. Raise `ValueError`, `KeyError` or `TypeError` otherwise."""
    return tuple(_decode(each) for each in runs)


_SPEC: Final = ("stmt", "setup", "global_setup", "label", "sub_label", "description", "env", "num_threads")
_COUNTS: Final = (
    "baseline_inclusive_stats",
    "baseline_exclusive_stats",
    "stmt_inclusive_stats",
    "stmt_exclusive_stats",
)


def _encode(stats: CallgrindStats) -> dict[str, Any]:
    counts = {name: getattr(stats, name) for name in _COUNTS}
    return {
        "task_spec": {name: getattr(stats.task_spec, name) for name in _SPEC},
        "number_per_run": stats.number_per_run,
        "built_with_debug_symbols": stats.built_with_debug_symbols,
        **{name: {"inclusive": each.inclusive, "rows": [list(row) for row in each]} for name, each in counts.items()},
    }


def _decode(kept: dict[str, Any]) -> CallgrindStats:
    counts = {
        name: FunctionCounts(
            tuple(FunctionCount(int(spent), str(function)) for spent, function in kept[name]["rows"]),
            bool(kept[name]["inclusive"]),
        )
        for name in _COUNTS
    }
    return CallgrindStats(
        task_spec=TaskSpec(**kept["task_spec"]),
        number_per_run=int(kept["number_per_run"]),
        built_with_debug_symbols=bool(kept["built_with_debug_symbols"]),
        **counts,
        stmt_callgrind_out=None,
    )

"""Counts kept between runs, in the user's cache folder: one JSON file each, named by a digest of all they depend on.

A file that cannot be read back is as good as none, and a folder that cannot be written costs the next run its time.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs
from torch.utils.benchmark.utils.common import TaskSpec
from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import CallgrindStats, FunctionCount, FunctionCounts

from harness.errors import MachineError

FORMAT: Final = 1
"""Raised whenever counts are made or kept differently, so that older ones are not taken for new ones."""

KIND: Final = "callgrind"
"""The folder for counts of single snippets."""

FOLDER_VARIABLE: Final = "FAIRCLOCK_CACHE"
"""Environment variable that names another folder for it."""


def folder() -> Path:
    """The folder; it need not exist yet."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("fairclock", appauthor=False))


def made(path: Path) -> Path:
    """Return a folder of the cache, which is made if need be. Raises `MachineError` with what to do if it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(
            f"What is compiled cannot be kept in {path} ({error.strerror}); name another folder in {FOLDER_VARIABLE}."
        ) from error
    return path


def digest(depends_on: Mapping[str, object]) -> str:
    """A name for everything in `depends_on`."""
    text = json.dumps({"format": FORMAT, **depends_on}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load(key: str) -> tuple[CallgrindStats, ...] | None:
    """The counts kept under `key`; None when there are none, or none that can be read."""
    try:
        return tuple(_decode(each) for each in load_json(KIND, key))
    except (ValueError, KeyError, TypeError):
        return None


def keep(key: str, runs: tuple[CallgrindStats, ...]) -> None:
    """Keep counts under `key`, whole or not at all."""
    keep_json(KIND, key, [_encode(each) for each in runs])


def load_json(kind: str, key: str) -> Any:
    """The value kept in the folder `kind` under `key`; None when there is none, or none that can be read."""
    try:
        return json.loads(_path(kind, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep_json(kind: str, key: str, value: object) -> None:
    """Keep a value in the folder `kind` under `key`, whole or not at all."""
    path = _path(kind, key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".counts-", text=True)
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - an open descriptor has no path
            json.dump(value, file)
        Path(temporary).replace(path)


def dumps(runs: tuple[CallgrindStats, ...]) -> str:
    """Counts as a JSON text."""
    return json.dumps([_encode(each) for each in runs])


def loads(text: str) -> tuple[CallgrindStats, ...]:
    """Counts from a JSON text. Raises `ValueError`, `KeyError` or `TypeError` for one that is not `dumps`'s."""
    return tuple(_decode(each) for each in json.loads(text))


def _path(kind: str, key: str) -> Path:
    return folder() / kind / f"{key}.json"


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

"""Read the instruction counts of benchmarks from Callgrind's profiles, and store them for later runs."""

from collections.abc import Sequence
from pathlib import Path

from harness.callgrind import outfile
from harness.callgrind.collect import software
from harness.callgrind.lookups import search_names
from harness.storage import disk_cache
from harness.suite import cpp
from harness.suite.benchmark import Benchmark
from harness.suite.results import SuiteSettings

KIND = "suite"
"""The name of the folder in the cache that holds the counts."""


def instructions_of(profiles: Sequence[Path]) -> tuple[int, ...]:
    """Return the number of instructions in each profile, without the instructions of dictionary lookups.

    The number of instructions of a lookup depends on random hashes. Raise `harness.callgrind.outfile.ProfileError` if a
    file is not a profile.
    """
    return tuple(_total(path) for path in profiles)


def _total(path: Path) -> int:
    with path.open(encoding="utf-8", errors="replace") as lines:
        profile = outfile.parse(lines)
    return profile.total - sum(profile.exclusive[name] for name in search_names(profile.exclusive))


def load(benchmark: Benchmark, settings: SuiteSettings) -> tuple[int, ...] | None:
    """Return a benchmark's counts from an earlier run with the same software, or None if there are none."""
    found = disk_cache.load(KIND, _key(benchmark, settings))
    return tuple(map(int, found)) if isinstance(found, list) and found else None


def save(benchmark: Benchmark, settings: SuiteSettings, counts: tuple[int, ...]) -> None:
    """Store the counts of a benchmark for later runs."""
    disk_cache.keep(KIND, _key(benchmark, settings), list(counts))


def _key(benchmark: Benchmark, settings: SuiteSettings) -> str:
    how = Path(__file__).with_name("worker.py").read_text(encoding="utf-8")
    return disk_cache.digest({
        "benchmark": benchmark.key,
        "counted": [settings.number, settings.repeats, how],
        "machine code": cpp.function_name(benchmark) if benchmark.is_cpp else "",
        **software(compiles=benchmark.is_cpp),
    })  # fmt: skip

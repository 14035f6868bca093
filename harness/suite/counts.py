"""Instruction counts of benchmarks: read from Callgrind's profiles, and kept between runs."""

from collections.abc import Sequence
from pathlib import Path

from harness import disk_cache
from harness.callgrind import outfile
from harness.callgrind.collect import software
from harness.callgrind.lookups import search_names
from harness.suite import cpp
from harness.suite.results import Settings
from harness.suite.work import Work

KIND = "suite"
"""The folder within the cache."""


def read(profiles: Sequence[Path]) -> tuple[int, ...]:
    """The instructions of each profile, without searches in dictionaries, which depend on hashes and luck.

    Raises `harness.callgrind.outfile.ProfileError` for what is no profile.
    """
    return tuple(_total(path) for path in profiles)


def _total(path: Path) -> int:
    with path.open(encoding="utf-8", errors="replace") as lines:
        profile = outfile.parse(lines)
    return profile.total - sum(profile.exclusive[name] for name in search_names(profile.exclusive))


def kept(work: Work, settings: Settings) -> tuple[int, ...] | None:
    """The counts of an earlier run on the same software; None without any."""
    found = disk_cache.load(KIND, _key(work, settings))
    return tuple(map(int, found)) if isinstance(found, list) and found else None


def keep(work: Work, settings: Settings, counts: tuple[int, ...]) -> None:
    """Keep counts for later runs."""
    disk_cache.keep(KIND, _key(work, settings), list(counts))


def _key(work: Work, settings: Settings) -> str:
    how = Path(__file__).with_name("worker.py").read_text(encoding="utf-8")
    return disk_cache.digest({
        "benchmark": work.key,
        "counted": [settings.number, settings.repeats, how],
        "machine code": cpp.name_of(work) if work.is_cpp else "",
        **software(compiles=work.is_cpp),
    })  # fmt: skip

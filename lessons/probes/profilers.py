"""Programs for profilers, and the profilers that lesson 09 uses but does not show."""

import cProfile
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from harness.profiles.stats import rows

Call = Callable[[], object]


class Profiled(NamedTuple):
    """The CPU time of a program with a profiler, and a number for each function that the profiler found."""

    cpu_s: float
    found: Counter[str]


def program(calls: int) -> None:
    """Call the function `little` this number of times, and the function `much` once per 10 000 of these calls."""
    for _ in range(calls):
        little()
    for _ in range(calls // 10_000):
        much()


def little() -> int:
    """Return 1."""
    return 1


def much() -> int:
    """Return the sum of 20 000 squares."""
    total = 0
    for i in range(20_000):
        total += i * i
    return total


def plain(call: Call) -> Counter[str]:
    """Run a call without a profiler."""
    call()
    return Counter()


def tracing(call: Call) -> Counter[str]:
    """Return the own time of each function in microseconds, as `cProfile` measures it."""
    own_us = Counter[str]()
    profile = cProfile.Profile()
    profile.runcall(call)
    for each in rows(profile):
        own_us[each.name] += round(1e6 * each.own_s)
    return own_us


def cpu_s(call: Callable[..., object], *arguments: object) -> float:
    """Return the CPU time of a call, in seconds."""
    began_s = time.process_time()
    call(*arguments)
    return time.process_time() - began_s


def timed(profiler: Callable[[Call], Counter[str]], calls: int) -> Profiled:
    """Run `program` with a profiler, and measure the CPU time."""
    began_s = time.process_time()
    found = profiler(lambda: program(calls))
    return Profiled(time.process_time() - began_s, found)

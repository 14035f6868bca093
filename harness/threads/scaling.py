"""Compare a function on one thread, on several threads of one process, and on one thread of each of several processes.

Each worker calls the function again and again for a given time, and the number of the calls is counted. The three ways
take turns, so that a disturbance of the machine does not hit only one of them.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from harness.processes import process_env
from harness.threads.servers import ProgramServer, ServerRun

ALONE, AT_ONCE = 0.8, 0.7
"""If one thread that computes, or several processes, used a smaller share of a core each, others disturbed them."""

MOST, FEWEST = 0.75, 3
"""A comparison counts only if at least this part of its turns was undisturbed, and at least `FEWEST` turns."""


class ScalingTurn(NamedTuple):
    """The calls per second of one worker, of several threads, and of several processes.

    `alone` is the share of a core that the one worker used. `at_once` is the mean share of a core that each of the
    processes used.
    """

    workers: int
    one: float
    threads: float
    processes: float
    alone: float
    at_once: float

    @property
    def by_threads(self) -> float:
        """The speedup of the threads: their calls per second, divided by those of one thread."""
        return self.threads / self.one

    @property
    def by_processes(self) -> float:
        """The speedup of the processes."""
        return self.processes / self.one

    @property
    def against_processes(self) -> float:
        """The calls per second of the threads, divided by those of the processes."""
        return self.threads / self.processes

    @property
    def undisturbed(self) -> bool:
        """Whether each process of a function that computes had a core. False also if the machine has too few cores."""
        return self.alone >= ALONE and self.at_once >= AT_ONCE


def can_limit() -> bool:
    """Return whether this system can limit a thread to some cores. macOS cannot."""
    return sys.platform == "linux"


def limited_to(cores: int) -> AbstractContextManager[None]:
    """Limit the calling thread to at most `cores` cores within a `with` block, if `can_limit` is true.

    Threads that it starts within the block are limited too, also after the block.
    """
    return process_env.pinned(sorted(os.sched_getaffinity(0))[:cores] if can_limit() else None)


def undisturbed(turns: Sequence[ScalingTurn]) -> list[ScalingTurn]:
    """Return the turns in which each process of a computing function had a core of its own.

    Return an empty list if other programs disturbed many turns. They then disturbed some of the threads, too, which the
    CPU time does not show.
    """
    good = [turn for turn in turns if turn.undisturbed]
    return good if len(good) >= max(FEWEST, MOST * len(turns)) else []


def take_turns(servers: list[ProgramServer], name: str, *, seconds: float, turns: int) -> list[ScalingTurn]:
    """Return the calls per second of a function of the servers' program. The first server also runs the threads.

    Each of the three ways takes `seconds` per turn. On Linux, each thread and each process stays on a core of its own.
    """
    first, workers = servers[0], len(servers)
    for server in servers:
        server.run(name)  # the first call is slower
    found = []
    for _ in range(turns):
        one = first.run(name, seconds=seconds, core=0)
        threads = first.run(name, threads=workers, seconds=seconds)
        processes = _at_once(servers, name, seconds)
        share = sum(_share(run) for run in processes) / workers
        found.append(ScalingTurn(workers, _rate(one), _rate(threads), sum(map(_rate, processes)), _share(one), share))
    return found


def _at_once(servers: list[ProgramServer], name: str, seconds: float) -> list[ServerRun]:
    for core, server in enumerate(servers):
        server.begin(name, seconds=seconds, core=core)
    return [server.finish() for server in servers]


def _rate(run: ServerRun) -> float:
    calls: int = sum(run.results)
    return max(calls, 1) / run.wall_s


def _share(run: ServerRun) -> float:
    return run.cpu_s / run.wall_s

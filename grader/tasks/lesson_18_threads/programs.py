"""Random programs of several threads with known races, for the task `races`.

A program is drawn as accesses: each has a thread with its start and its join, and the locks that the thread holds. The
races follow from the accesses. The events are made from them afterwards, so no code here reads events.
"""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from grader.tasks.simulated import shuffled

Event = tuple[str, str, str]
"""A thread, an action, and the name of a variable, a lock or a thread."""

Race = tuple[str, str, str]
"""A variable, and two threads that access it in a race."""


MAIN: Final = "main"


class Access(NamedTuple):
    """An access to a variable: its thread, the locks held, and the part of main's events during which it may happen.

    `begin` and `end` are positions in main's events: the start and the join of the thread, or the access itself twice
    if main makes it. `end` is infinite if main never joins the thread.
    """

    thread: str
    name: str
    writes: bool
    locks: frozenset[str]
    begin: float
    end: float

    def races_with(self, other: "Access") -> bool:
        """Return whether two accesses are a race, if they are made by two threads to one variable."""
        overlap = self.begin < other.end and other.begin < self.end
        return overlap and (self.writes or other.writes) and self.locks.isdisjoint(other.locks)


def random_program(rng: np.random.Generator) -> tuple[tuple[Event, ...], tuple[Race, ...]]:
    """Return the events and the races of a random program: three to five threads and main access five variables."""
    threads, locks = "ABCDE"[: int(rng.integers(3, 6))], "KLM"
    lives = {thread: (float(begin), float(end)) for thread, (begin, end) in _lives(rng, threads).items()}
    accesses = [access for name in "uvwxy" for access in _accesses(rng, name, lives, locks)]
    bodies: dict[str, list[Event]] = {thread: [] for thread in threads}
    of_main = [(begin, [(MAIN, "start", thread)]) for thread, (begin, _) in lives.items()]
    of_main += [(end, [(MAIN, "join", thread)]) for thread, (_, end) in lives.items() if end < math.inf]
    for access in shuffled(rng, accesses):
        block = list(_block(rng, access, locks))
        if access.thread == MAIN:
            of_main.append((access.begin, block))
        else:
            bodies[access.thread] += block
    bodies[MAIN] = [event for _, block in sorted(of_main) for event in block]
    pairs = [(one, other) for one, other in combinations(accesses, 2) if one.name == other.name]
    races = {
        (one.name, *sorted((one.thread, other.thread)))
        for one, other in pairs
        if one.thread != other.thread and one.races_with(other)
    }
    return tuple(_in_order(rng, bodies)), tuple((name, first, second) for name, first, second in sorted(races))


def _lives(rng: np.random.Generator, threads: str) -> dict[str, tuple[float, float]]:
    """Return the position of each thread's start and join in main's events. One join in six is missing."""
    order = shuffled(rng, threads * 2)
    ends = [len(order) - 1 - order[::-1].index(thread) for thread in threads]
    return {
        thread: (order.index(thread), end if rng.random() < 5 / 6 else math.inf)
        for thread, end in zip(threads, ends, strict=True)
    }


def _accesses(
    rng: np.random.Generator, name: str, lives: dict[str, tuple[float, float]], locks: str
) -> Iterator[Access]:
    """Yield random accesses to a variable by two or three threads or main.

    One variable of four is only read. Otherwise all accesses hold one lock, or two of three accesses do.
    """
    only_read, careless, guard = rng.random() < 1 / 4, rng.random() < 2 / 3, locks[int(rng.integers(len(locks)))]
    for thread in shuffled(rng, (*lives, MAIN))[: int(rng.integers(2, 4))]:
        for _ in range(int(rng.integers(1, 3))):
            begin, end = lives.get(thread) or [rng.uniform(-1, 2 * len(lives))] * 2
            held = {lock for lock in locks if rng.random() < 1 / 5}
            guarded = not (only_read or (careless and rng.random() < 1 / 3))
            held = held | {guard} if guarded else held - {guard}
            yield Access(thread, name, not only_read and rng.random() < 1 / 2, frozenset(held), begin, end)


def _block(rng: np.random.Generator, access: Access, locks: str) -> Iterator[Event]:
    """Yield the events of an access: its locks are acquired, some of them twice, and others were released before."""
    thread, held, action = access.thread, sorted(access.locks), "write" if access.writes else "read"
    twice = [lock for lock in held if rng.random() < 1 / 6]
    free = [lock for lock in locks if lock not in held and rng.random() < 1 / 6]
    for lock in free:
        times = int(rng.integers(1, 3))
        yield from [(thread, "acquire", lock)] * times + [(thread, "release", lock)] * times
    yield from ((thread, "acquire", lock) for lock in sorted([*held, *twice]))
    yield from ((thread, "release", lock) for lock in twice)
    yield (thread, action, access.name)
    yield from ((thread, "release", lock) for lock in shuffled(rng, held))


def _in_order(rng: np.random.Generator, bodies: dict[str, list[Event]]) -> Iterator[Event]:
    """Yield the events of all threads in a random order that is possible. The lists in `bodies` are emptied.

    Each thread acquires its locks in the same order, so there is always a thread that can continue.
    """
    running, holders = {MAIN}, list[tuple[str, str]]()  # a holder is a lock and a thread

    def possible(thread: str) -> bool:
        _, action, name = bodies[thread][0]
        if action == "join":
            return not bodies[name]
        return action != "acquire" or all(lock != name or holder == thread for lock, holder in holders)

    while ready := [thread for thread in sorted(running) if bodies[thread] and possible(thread)]:
        thread = ready[int(rng.integers(len(ready)))]
        _, action, name = event = bodies[thread].pop(0)
        if action == "start":
            running.add(name)
        elif action == "acquire":
            holders.append((name, thread))
        elif action == "release":
            holders.remove((name, thread))
        yield event

"""What `self_times` is given: traces in Chrome's format whose own times are planted.

A trace is laid out from trees of own times: an event's children follow each other within it, with some of its own time
before, between and after them. So the truth is known, and no answer is known beforehand. The trees are small ones that
show one thing each, and a recorded step of training with other names and other times.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered
from grader.tasks.plain import RowsWorld
from grader.values import Value

from .recorded import Node, events

COUNTED_WORLDS: Final = 2
VERBS: Final = (
    "add",
    "bmm",
    "cat",
    "conv",
    "copy",
    "div",
    "exp",
    "fill",
    "gelu",
    "index",
    "mul",
    "norm",
    "relu",
    "sum",
)
ENDINGS: Final = ("", "_", "_out", "_backward", "_impl", "_native", "_stub")

Thread = tuple[Value, Value]
"""Process and thread, as a trace has them: numbers or texts."""

Span = tuple[Thread, str, int, int]
"""One complete event: its thread, name, beginning and duration in nanoseconds."""


@dataclass
class TraceWorld(RowsWorld):
    """One trace: its complete events in the order in which they are given, their own times, and what else is in it.

    `own` has a name and an own time for each event.
    """

    title: str
    spans: tuple[Span, ...]
    own: tuple[tuple[str, int], ...]
    advice: str = ""
    others: tuple[dict[str, Value], ...] = ()
    function: str = "self_times"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The list of events."""
        complete: list[Value] = [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length}
            for (pid, tid), name, start, length in self.spans
        ]
        return ([*self.others[:1], *complete, *self.others[1:]],)

    @property
    def right(self) -> list[list[Value]]:
        """The rows that are asked for."""
        calls, total = dict[str, int](), dict[str, int]()
        for name, own_ns in self.own:
            calls[name] = calls.get(name, 0) + 1
            total[name] = total.get(name, 0) + own_ns
        return [[name, calls[name], total[name]] for name in sorted(total, key=lambda each: (-total[each], each))]


def draw_cases(rng: np.random.Generator) -> tuple[TraceWorld, ...]:
    """Draw what is easily overlooked, each by itself, and a recorded step on two threads."""
    a, b, c, d = _names(rng, 4)
    low, high = sorted((a, b))
    t = [int(n) for n in rng.integers(1000, 90000, 8)]
    one, two = (int(n) for n in rng.choice(9000, 2, replace=False))
    here, there, elsewhere = (one, one), (one, two), (two, one)
    begin = int(rng.integers(10**6))

    def spans(title: str, advice: str, *rows: tuple[str, int, int, int], thread: Thread = here) -> TraceWorld:
        """A trace of one thread, written out: name, beginning after the first, duration, own time."""
        return TraceWorld(
            title,
            tuple((thread, name, begin + start, length) for name, start, length, _ in rows),
            tuple((name, own) for name, _, _, own in rows),
            advice,
        )

    x, y, z = t[:3]
    return (
        spans("no events", "No events, no rows."),
        spans("one event", "What nothing lies within is all its own.", (a, 0, x, x)),
        spans("a chain", ONE_DEEPER, (a, 0, x + y + z, x), (b, x, y + z, y), (c, x + y, z, z)),
        spans(
            "three within one",
            ONE_DEEPER,
            *((a, 0, x + 3 * y + z, x + z), (b, x, y, y), (c, x + y, y, y), (d, x + 2 * y + z, y, y)),
        ),
        spans("begins with the outer one", LONGER_FIRST, (b, 0, y, y), (a, 0, x + y, x)),
        spans("ends with the outer one", ONE_DEEPER, (a, 0, x + y, x), (b, x, y, y)),
        spans("one right after the other", AFTER, (a, 0, x, x), (b, x, y, y), (c, x + y, z, z)),
        spans("the same times", SAME, (high, 0, x, 0), (low, 0, x, x)),
        spans("the same times thrice", SAME, (low, 0, x, 0), (d, 0, x, 0), (high, 0, x, x)),
        spans("the inner one first", "Events may come in any order.", (b, x, y, y), (c, 0, x, x), (a, 0, x + y + z, z)),
        spans(
            "calls itself", "An operator within itself: each takes away from its own outer.", *_itself(a, b, x, y, z)
        ),
        spans("no time at all", "An event may take no time.", (a, 0, x, x), (b, x, 0, 0), (c, x, y, y)),
        spans("equal own times", "Equal ones: in order of name.", (high, 0, x, x), (low, x, x, x), (c, 2 * x, y, y)),
        _together("two threads at once", (here, there), (a, b), x, begin),
        _together("one thread number in two processes", (here, elsewhere), (a, b), x, begin),
        _together("threads that have names", (here, ("Spans", "Profiler")), (a, c), x, begin),
        _with_others(spans("other phases", PHASES, (a, 0, x + y, x), (b, x, y, y)), begin),
        _deep(rng, a, b),
        _recorded(rng, "a step of training"),
    )


ONE_DEEPER: Final = "Own time is a duration less those that lie directly within it, not less all that lie within."
LONGER_FIRST: Final = "Of two that begin together, the longer one is the outer one, wherever it stands in the list."
AFTER: Final = "What begins when another one ends is not within it."
SAME: Final = "Of two with the same times, the one that stands first in the list is the outer one."
APART: Final = "Only events of one thread lie within each other: the same pid and the same tid."
PHASES: Final = 'Only events with "ph": "X" are complete; others may have no duration, and no beginning.'


def draw_counted(rng: np.random.Generator) -> tuple[TraceWorld, ...]:
    """Draw the traces that a function works on while its instructions are counted."""
    return tuple(_recorded(rng, "a step of training") for _ in range(COUNTED_WORLDS))


def _itself(a: str, b: str, x: int, y: int, z: int) -> tuple[tuple[str, int, int, int], ...]:
    return (a, 0, x + y + 2 * z, x), (b, x, y + 2 * z, z), (a, x + z, y + z, y), (a, x + z + y, z, z)


def _together(title: str, threads: tuple[Thread, Thread], names: tuple[str, str], x: int, begin: int) -> TraceWorld:
    """Two threads, each with an event that would lie within the other thread's."""
    spans = ((threads[0], names[0], begin, 4 * x), (threads[1], names[1], begin + x, x))
    return TraceWorld(title, spans, ((names[0], 4 * x), (names[1], x)), APART)


def _with_others(world: TraceWorld, begin: int) -> TraceWorld:
    """Add what a trace also holds: the name of a process, a moment, an arrow."""
    pid, tid = world.spans[0][0]
    name, where = world.spans[0][1], {"pid": pid, "tid": tid}
    world.others = (
        {"ph": "M", "name": "process_name", **where, "args": {"name": "python"}},
        {"ph": "i", "name": name, **where, "ts": begin, "s": "t"},
        {"ph": "s", "name": name, "cat": "fwdbwd", "id": 1, **where, "ts": begin},
    )
    return world


def _deep(rng: np.random.Generator, one: str, other: str, depth: int = 1200) -> TraceWorld:
    nodes = tuple((at, (one, other)[at % 2], int(own_ns)) for at, own_ns in enumerate(rng.integers(2, 90, depth)))
    spans, own = laid_out(rng, nodes, (7, 7), 0)
    return TraceWorld("more than a thousand deep", spans, own, "What is open may be a thousand events.")


def _recorded(rng: np.random.Generator, title: str) -> TraceWorld:
    """Draw the recorded step on two threads at once, with other names and times, events in any order."""
    names = list(dict.fromkeys(name for _, name, _ in events()))
    called = dict(zip(names, _names(rng, len(names)), strict=True))
    pid, *tids = (int(n) for n in rng.choice(9000, 3, replace=False))
    spans: list[Span] = []
    own: list[tuple[str, int]] = []
    for tid in tids:
        factors = rng.uniform(0.3, 3.0, len(events()))
        nodes = tuple(
            (depth, called[name], max(2, int(own_ns * factor)))
            for (depth, name, own_ns), factor in zip(events(), factors, strict=True)
        )
        more, theirs = laid_out(rng, nodes, (pid, tid), int(rng.integers(10**6)))
        spans += more
        own += theirs
    order = rng.permutation(len(spans))
    return TraceWorld(title, tuple(spans[n] for n in order), tuple(own), "Compare with a trace of three events.")


def laid_out(
    rng: np.random.Generator, nodes: tuple[Node, ...], thread: Thread, begin: int
) -> tuple[tuple[Span, ...], tuple[tuple[str, int], ...]]:
    """Give every node of a forest a beginning and a duration; return them, and its name with its own time.

    Half of a node's own time is before what lies within it, or nothing; all that is left comes after.
    """
    starts, ends, left = [0] * len(nodes), [0] * len(nodes), [0] * len(nodes)
    now, opened = begin, list[int]()

    def close(depth: int) -> None:
        nonlocal now
        while len(opened) > depth:
            last = opened.pop()
            now += left[last]
            ends[last] = now

    for place, (depth, _, own_ns) in enumerate(nodes):
        close(depth)
        starts[place] = now
        before = int(rng.integers(2)) * (own_ns // 2)
        left[place] = own_ns - before
        now += before
        opened.append(place)
    close(0)
    spans = tuple((thread, name, starts[n], ends[n] - starts[n]) for n, (_, name, _) in enumerate(nodes))
    return spans, tuple((name, own_ns) for _, name, own_ns in nodes)


def _names(rng: np.random.Generator, number: int) -> list[str]:
    """So many different names."""
    whole = [f"aten::{verb}{ending}" for verb in VERBS for ending in ENDINGS]
    return [str(name) for name in rng.choice(whole, number, replace=False)]

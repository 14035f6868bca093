"""Task (a) of lesson 11: compute own times by name from the events of a trace, which has no tree of calls.

The baseline, with which submissions are compared, searches the outer event of each event among all events. On traces
with two threads and 500 events, grouping by thread first is 7 times as fast. A sort and a search through every earlier
event are 14 times as fast, a search back to the nearest outer event 24 to 29 times, and a stack 33 to 77 times (Python
3.11 and 3.13). The traces have random shapes.

The scenarios are traces in Chrome's format whose own times are known.

A trace is made from own times. The children of an event follow each other within the event, with its own time before
and after them. There is a small trace for each special case, and a large one of random shape.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import RowsScenario, invented, random_depths
from grader.values import Value

Node = tuple[int, str, int]
"""An event of a trace: its depth, its name, and its own time in nanoseconds."""

TIMED_EVENTS: Final = 250
"""The number of events of each of the two threads in a trace that is timed."""

BACK, MOST = 4, 12
DEEPER: Final = 0.65
"""The probability that the next event of a random trace is within an event."""

VERBS: Final = (
    *("add", "bmm", "cat", "conv", "copy", "div", "exp"),
    *("fill", "gelu", "index", "mul", "norm", "relu", "sum"),
)
NAMES: Final = (("aten::",), VERBS, ("", "_", "_out", "_backward", "_impl", "_native", "_stub"))
"""The parts of an operator's name."""

Thread = tuple[Value, Value]
"""The ids of a process and a thread in a trace, each a number or a text."""

Span = tuple[Thread, str, int, int]
"""An event with a duration: its thread, its name, and its beginning and duration in nanoseconds."""


@dataclass
class TraceScenario(RowsScenario):
    """A trace: its events with durations, their names and own times (`own`), and its other events."""

    spans: tuple[Span, ...]
    own: tuple[tuple[str, int], ...]
    others: tuple[dict[str, Value], ...] = ()
    function = "self_times"
    order = "the largest own time first; equal own times by name"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of the submission's function `self_times`: the list of events."""
        complete: list[Value] = [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length}
            for (pid, tid), name, start, length in self.spans
        ]
        return ([*self.others[:1], *complete, *self.others[1:]],)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: rows with the own times by name."""
        calls, total = dict[str, int](), dict[str, int]()
        for name, own_ns in self.own:
            calls[name] = calls.get(name, 0) + 1
            total[name] = total.get(name, 0) + own_ns
        return [[name, calls[name], total[name]] for name in sorted(total, key=lambda each: (-total[each], each))]


def draw_cases(rng: np.random.Generator) -> tuple[TraceScenario, ...]:
    """Return a random trace for each special case, and a large trace of two threads."""
    a, b, c, d = invented(rng, 4, *NAMES)
    low, high = sorted((a, b))
    t = [int(n) for n in rng.integers(1000, 90000, 8)]
    one, two = (int(n) for n in rng.choice(9000, 2, replace=False))
    here, there, elsewhere = (one, one), (one, two), (two, one)
    begin = int(rng.integers(10**6))

    # A row is (name, beginning, duration, own time).
    def spans(title: str, advice: str, *rows: tuple[str, int, int, int]) -> TraceScenario:
        return TraceScenario(
            title,
            advice,
            tuple((here, name, begin + start, length) for name, start, length, _ in rows),
            tuple((name, own) for name, _, _, own in rows),
        )

    x, y, z = t[:3]
    itself = (a, 0, x + y + 2 * z, x), (b, x, y + 2 * z, z), (a, x + z, y + z, y), (a, x + z + y, z, z)
    return (
        spans("no events", "For an empty list of events, return an empty list."),
        spans("one event", "If there is no event within an event, its own time is its duration.", (a, 0, x, x)),
        spans("a chain", ONE_DEEPER, (a, 0, x + y + z, x), (b, x, y + z, y), (c, x + y, z, z)),
        spans(
            "three events within one event",
            ONE_DEEPER,
            *((a, 0, x + 3 * y + z, x + z), (b, x, y, y), (c, x + y, y, y), (d, x + 2 * y + z, y, y)),
        ),
        spans("an inner event begins with its outer event", LONGER_FIRST, (b, 0, y, y), (a, 0, x + y, x)),
        spans("an inner event ends with its outer event", ONE_DEEPER, (a, 0, x + y, x), (b, x, y, y)),
        spans("events right after each other", AFTER, (a, 0, x, x), (b, x, y, y), (c, x + y, z, z)),
        spans("the same times", SAME, (high, 0, x, 0), (low, 0, x, x)),
        spans("the same times, three events", SAME, (low, 0, x, 0), (d, 0, x, 0), (high, 0, x, x)),
        spans(
            "an inner event first in the list",
            "Events may come in any order.",
            (b, x, y, y),
            (c, 0, x, x),
            (a, 0, x + y + z, z),
        ),
        spans("calls itself", "Each event subtracts from the event directly around it.", *itself),
        spans("an event without duration", "An event may take no time.", (a, 0, x, x), (b, x, 0, 0), (c, x, y, y)),
        spans("equal own times", "Sort equal own times by name.", (high, 0, x, x), (low, x, x, x), (c, 2 * x, y, y)),
        _together("two threads at once", (here, there), (a, b), x, begin),
        _together("one thread number in two processes", (here, elsewhere), (a, b), x, begin),
        _together("threads that have names", (here, ("Spans", "Profiler")), (a, c), x, begin),
        _with_others(spans("events of other phases", PHASES, (a, 0, x + y, x), (b, x, y, y)), begin),
        _deep(rng, a, b),
        _drawn(rng, "a step of training"),
    )


ONE_DEEPER: Final = (
    "Own time is an event's duration minus the durations of the events directly within it, not of all events within it."
)
LONGER_FIRST: Final = (
    "Of two events that begin together, the longer one is the outer one, also if it comes later in the list."
)
AFTER: Final = "An event that begins when another event ends is not within that event."
SAME: Final = "Of two events with the same times, the first in the list is the outer one."
APART: Final = "Only events with the same pid and the same tid can lie within each other."
PHASES: Final = 'Only events with "ph": "X" are complete. Other events may have no duration and no beginning.'


def draw_timed(rng: np.random.Generator) -> tuple[TraceScenario, ...]:
    """Return a trace of random shape that is timed."""
    return (_drawn(rng, "a long trace"),)


def _drawn(rng: np.random.Generator, title: str) -> TraceScenario:
    names = invented(rng, 40, *NAMES)

    def nodes() -> tuple[Node, ...]:
        depths = random_depths(rng, TIMED_EVENTS, DEEPER, BACK, MOST)
        which, own_ns = rng.integers(len(names), size=TIMED_EVENTS), rng.integers(100, 20_000, TIMED_EVENTS)
        return tuple(zip(depths, (names[n] for n in which.tolist()), own_ns.tolist(), strict=True))

    return _trace(rng, title, nodes(), nodes())


def _together(title: str, threads: tuple[Thread, Thread], names: tuple[str, str], x: int, begin: int) -> TraceScenario:
    spans = ((threads[0], names[0], begin, 4 * x), (threads[1], names[1], begin + x, x))
    return TraceScenario(title, APART, spans, ((names[0], 4 * x), (names[1], x)))


def _with_others(scenario: TraceScenario, begin: int) -> TraceScenario:
    pid, tid = scenario.spans[0][0]
    name, where = scenario.spans[0][1], {"pid": pid, "tid": tid}
    scenario.others = (
        {"ph": "M", "name": "process_name", **where, "args": {"name": "python"}},
        {"ph": "i", "name": name, **where, "ts": begin, "s": "t"},
        {"ph": "s", "name": name, "cat": "fwdbwd", "id": 1, **where, "ts": begin},
    )
    return scenario


def _deep(rng: np.random.Generator, one: str, other: str, depth: int = 1200) -> TraceScenario:
    nodes = tuple((at, (one, other)[at % 2], int(own_ns)) for at, own_ns in enumerate(rng.integers(2, 90, depth)))
    spans, own = laid_out(rng, nodes, (7, 7), 0)
    return TraceScenario("more than a thousand deep", "A thousand events may be open at once.", spans, own)


def _trace(rng: np.random.Generator, title: str, *threads: tuple[Node, ...]) -> TraceScenario:
    """Return a trace with the events of these threads in random order."""
    pid, *tids = (int(n) for n in rng.choice(9000, 1 + len(threads), replace=False))
    spans: list[Span] = []
    own: list[tuple[str, int]] = []
    for tid, nodes in zip(tids, threads, strict=True):
        more, more_own = laid_out(rng, nodes, (pid, tid), int(rng.integers(10**6)))
        spans += more
        own += more_own
    order = rng.permutation(len(spans)).tolist()
    return TraceScenario(
        title,
        "Test your function on a trace of three events: compute the own times by hand, and compare the two results.",
        tuple(spans[n] for n in order),
        tuple(own),
    )


def laid_out(
    rng: np.random.Generator, nodes: tuple[Node, ...], thread: Thread, begin: int
) -> tuple[tuple[Span, ...], tuple[tuple[str, int], ...]]:
    """Return the events for these nodes of call trees, and the name and own time of each node.

    Either half or none of a node's own time comes before its children. The rest comes after them.
    """
    starts, ends, left = [0] * len(nodes), [0] * len(nodes), [0] * len(nodes)
    now, opened = begin, list[int]()

    def close(depth: int) -> None:
        nonlocal now
        while len(opened) > depth:
            last = opened.pop()
            now += left[last]
            ends[last] = now

    halves = rng.integers(2, size=len(nodes)).tolist()
    for place, (depth, _, own_ns) in enumerate(nodes):
        close(depth)
        starts[place] = now
        before = halves[place] * (own_ns // 2)
        left[place] = own_ns - before
        now += before
        opened.append(place)
    close(0)
    spans = tuple((thread, name, starts[n], ends[n] - starts[n]) for n, (_, name, _) in enumerate(nodes))
    return spans, tuple((name, own_ns) for _, name, own_ns in nodes)


SELF_TIMES = Task(
    summary="compute own times from a trace, 22.5 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(2.6, 0.6), Tier(9.8, 0.8), Tier(22.5, 1.0)),
    hints=(
        (
            "In which order must you go through the events, so that you find the outer event of each event without a "
            "search?"
        ),
        (
            "Sort the events of each thread by their beginnings. If two events begin together, the longer event comes "
            "first. When an event begins, all open events contain it. Keep the open events in a list, and remove those "
            "that have ended."
        ),
        (
            "For each (pid, tid), sort by (ts, -dur). Keep a stack of (end, name). For each event, remove the top of "
            "the stack while its end is at most the event's ts. If the stack still has an event on top, subtract dur "
            "from the own time of that event's name. Add dur to own[name], and push (ts + dur, name). Sort the rows "
            "once at the end, by (-own, name)."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 11, “The trace”",
    idea=(
        "A trace does not state which call made which other call. But in one thread, the call that began last returns "
        "first. If you sort events by their beginnings, they open and close like brackets. So a stack of open events "
        "always has the outer event on top, and no search is necessary. An event needs no list of children, because "
        "each child subtracts its duration from the outer event."
    ),
    references=(
        "_build_tree in torch/autograd/profiler_util.py makes the tree of events for key_averages. Perfetto's trace "
        "processor computes such times in SQL, for traces of millions of events."
    ),
)

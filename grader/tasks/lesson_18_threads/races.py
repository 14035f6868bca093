"""Task (b) of lesson 18: find the races in the events of threads. Only the answer counts.

The events of a special case are written here. A whole program is drawn anew: how long its threads live, and which
locks they hold at each access (`programs.py`). So no table of programs has the answer. Threads, locks and variables get
random names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import SimulatedExam, SimulatedFunction, Task
from grader.tasks.plain import RowsScenario
from grader.tasks.simulated import shuffled
from grader.values import Value

from .programs import MAIN, Event, Race, random_program

ACTIONS: Final = {"?": "read", "!": "write", "+": "acquire", "-": "release", ">": "start", "<": "join"}

THREADS: Final = (
    *("bee", "cat", "crow", "dog", "fox", "goat", "hare"),
    *("lark", "lynx", "mole", "newt", "owl", "ram", "wolf"),
)
LOCKS: Final = ("bolt", "chain", "door", "gate", "hatch", "key", "latch", "seal", "shutter", "valve")
VARIABLES: Final = ("best", "count", "done", "hits", "index", "last", "loss", "next", "rows", "size", "state", "sum")

OVERLAP: Final = "Two threads cannot race if main joins one of them before it starts the other."
OF_MAIN: Final = "An access of main before it starts a thread, or after it joins the thread, cannot race with it."
NO_WRITE: Final = "Two reads are not a race."
EACH_THREAD: Final = "A lock protects an access only if the thread that makes the access holds the lock."
COMMON: Final = "One lock that both threads hold is enough. Two different locks protect nothing."
AGAIN: Final = "If a thread acquires a lock twice, it holds the lock until it has released the lock twice."
PAIRS: Final = "Compare each pair of threads."


class RaceCase(NamedTuple):
    """A case: its title, its events and races, and a sentence for a student whose answer is wrong."""

    title: str
    events: tuple[Event, ...]
    races: tuple[Race, ...]
    advice: str


@dataclass
class Accesses(RowsScenario):
    """Events of threads in order of time, and the rows of the right answer."""

    events: tuple[Event, ...]
    races: tuple[Race, ...]
    function = "races"
    order = "by variable, then by thread, then by the other thread"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The argument of `races`: the events as rows."""
        return ([list(event) for event in self.events],)

    @property
    def right(self) -> list[list[Value]]:
        """The known races as rows: the threads of a row, and then the rows, in alphabetical order."""
        return [list(row) for row in sorted((name, *sorted(threads)) for name, *threads in self.races)]


def _part(title: str, text: str, races: str = "", advice: str = "") -> RaceCase:
    """Return a case from a text of events, such as "m>A A!x" (main starts A, A writes x), and of races, such as "xAB".

    The letter m stands for main, and the signs for the actions of `ACTIONS`.
    """
    events = tuple((_name(each[0]), ACTIONS[each[1]], _name(each[2])) for each in text.split())
    known = tuple((each[0], _name(each[1]), _name(each[2])) for each in races.split())
    return RaceCase(title, events, known, advice)


def _name(letter: str) -> str:
    return MAIN if letter == "m" else letter


PARTS: Final = (
    _part("no events", "", "", "For an empty list, return an empty list."),
    _part("no lock", "m>A m>B A?x B?x A!x B!x m<A m<B", "xAB", PAIRS),
    _part("reads only", "m>A m>B A?x B?x A?x B?x m<A m<B", "", NO_WRITE),
    _part("one thread only", "m>A m>B A!x A?x B!y A!x B?y m<B m<A", "", PAIRS),
    _part("one lock", "m>A m>B A+L A?x A!x A-L B+L B?x B!x B-L m<A m<B", "", COMMON),
    _part("two different locks", "m>A A+L A!x A-L m>B B+K B?x B-K m<A m<B", "xAB", COMMON),
    _part("one of two locks is common", "m>A m>B A+L A+K A!x A-K A-L B+K B!x B-K m<B m<A", "", COMMON),
    _part("two locks, and none is common", "m>A m>B A+L A+K A!x A-K A-L B+M B!x B-M m<B m<A", "xAB", COMMON),
    _part("released before the access", "m>A m>B A+L A-L A!x B+L B!x B-L m<A m<B", "xAB", EACH_THREAD),
    _part("acquired after the access", "m>A m>B A!x A+L A-L B+L B!x B-L m<A m<B", "xAB", EACH_THREAD),
    _part("the other thread holds the lock", "m>A m>B A+L B!x A!x A-L B?x m<A m<B", "xAB", EACH_THREAD),
    _part("only the other thread holds the lock", "m>A m>B A+L A!x B?x A-L m<A m<B", "xAB", EACH_THREAD),
    _part("a read without the lock", "m>A m>B A+L A!x A-L B?x m<A m<B", "xAB", EACH_THREAD),
    _part("a second access without the lock", "m>A m>B A+L A!x A-L B+L B!x B-L B?x m<A m<B", "xAB", EACH_THREAD),
    _part("a lock acquired twice", "m>A m>B A+L A+L A-L A!x A-L B+L B!x B-L m<A m<B", "", AGAIN),
    _part("a lock released twice", "m>A m>B A+L A+L A-L A-L A!x B+L B!x B-L m<A m<B", "xAB", AGAIN),
    _part("a write of main before the start", "m!x m>A m>B A?x B?x m<A m<B", "", OF_MAIN),
    _part("a read of main after the join", "m>A A!x A?x m<A m?x", "", OF_MAIN),
    _part("a read of main before the join", "m>A A!x m?x m<A", "xAm", OF_MAIN),
    _part("a write of main between two starts", "m>A m!x m>B A?x B?x m<A m<B", "xAm", OF_MAIN),
    _part("a read of main between two joins", "m>A m>B A!x B!y m<A m?x m?y m<B", "yBm", OF_MAIN),
    _part("main with the lock", "m>A A+L A!x A-L m+L m?x m-L m<A", "", COMMON),
    _part("one thread after the other", "m>A A!x m<A m>B B!x B?x m<B", "", OVERLAP),
    _part("a thread that starts later", "m>A A!x m>B B?x m<A m<B", "xAB", OVERLAP),
    _part("a thread that is joined later", "m>A A!x m>B m<A B!x m<B m>C C?x m<C", "xAB", OVERLAP),
    _part("a thread that main never joins", "m>A A!x m>B B!x m<B m?x", "xAB xAm", OF_MAIN),
    _part("three threads", "m>A m>B m>C A+L A!x A-L B+L B?x B-L C?x C!y B?y m<A m<B m<C", "xAC yBC", PAIRS),
    _part(
        "three locks, two for each thread",
        "m>A m>B m>C A+L A+K A!x A-K A-L B+K B+M B!x B-M B-K C+M C+L C!x C-L C-M m<A m<B m<C",
        "",
        COMMON,
    ),
    _part("two variables and one lock", "m>A m>B A+L A!x A-L A!y B+L B!y B-L B?z A?z m<A m<B", "yAB", EACH_THREAD),
)
"""The special cases. Their letters stand for threads (A, B, C), locks (K, L, M) and variables (x, y, z)."""


def draw_scenarios(rng: np.random.Generator) -> tuple[Accesses, ...]:
    """Return each special case, and random programs, each mixed with a special case, in random order."""
    parts = [PARTS[number] for number in rng.choice(len(PARTS), PROGRAMS, replace=False).tolist()]
    mixed = [_woven(rng, [RaceCase("", *random_program(rng), ""), part]) for part in parts]
    return shuffled(rng, [*(_woven(rng, [part]) for part in PARTS), *mixed])


PROGRAMS: Final = 12
"""The number of random programs in a grading."""


def _woven(rng: np.random.Generator, parts: Sequence[RaceCase]) -> Accesses:
    """Return the events of several cases, mixed at random, with new names. The order within each case is kept."""
    names = _NewNames(rng)
    renamed = [names.renamed(part) for part in parts]
    left = [list(part.events) for part in renamed]
    events: list[Event] = []
    while any(left):
        chosen = left[int(rng.choice([place for place, rest in enumerate(left) if rest]))]
        events.append(chosen.pop(0))
    title = parts[0].title if len(parts) == 1 else "several threads and variables"
    advice = parts[0].advice if len(parts) == 1 else PAIRS
    return Accesses(title, advice, tuple(events), tuple(race for part in renamed for race in part.races))


class _NewNames:
    """Draws names for threads, locks and variables. No two cases of a scenario get the same name."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._left = {
            kind: [str(name) for name in rng.permutation(names)]
            for kind, names in (("start", THREADS), ("acquire", LOCKS), ("read", VARIABLES))
        }

    def renamed(self, part: RaceCase) -> RaceCase:
        """Return a case with new names, except for main."""
        kinds = {"join": "start", "release": "acquire", "write": "read"}
        new = {("start", MAIN): MAIN}
        for _, action, name in part.events:
            kind = kinds.get(action, action)
            if (kind, name) not in new:
                new[kind, name] = self._left[kind].pop()
        events = tuple(
            (new["start", thread], action, new[kinds.get(action, action), name]) for thread, action, name in part.events
        )
        races = tuple((new["read", name], new["start", one], new["start", other]) for name, one, other in part.races)
        return part._replace(events=events, races=races)


RACES = Task(
    summary="find the pairs of threads that access a variable in a race, in a list of events",
    cost=CALLS,
    tiers=(),
    hints=(
        "Which locks does a thread hold at each of its accesses? At which positions does main start and join it?",
        (
            "Go through the events once. For each thread, count how often it holds each lock. At each read and write, "
            "make a row: position, thread, action, variable, and the set of the locks held. Then compare each pair of "
            "rows of the same variable."
        ),
        (
            "Remember two positions per thread: start[thread] and join[thread], which is len(events) if main never "
            "joins it. Two threads a and b other than main overlap if start[a] < join[b] and start[b] < join[a]. An "
            "access of main at position p overlaps with a if start[a] < p < join[a]. Sets of locks without a common "
            "element are disjoint: held.isdisjoint(other)."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, scenario_noun="lists of events"),
    read="lesson 18, “A race that lost nothing”",
    idea=(
        "The solution compares what each access needs, not what happened to it. So it finds a race even if the run "
        "lost no update. A lock orders two accesses only if both threads hold it, and a start or a join orders them "
        "without a lock."
    ),
    references=(
        "Savage et al., Eraser: A Dynamic Data Race Detector for Multithreaded Programs (1997), compare the locks of "
        "all accesses of a variable. ThreadSanitizer also follows starts, joins and other orders of events."
    ),
)

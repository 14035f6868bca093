"""Task (a) of lesson 17: find the functions that hold memory at the peak, from the allocations that memray recorded.

The baseline, with which submissions are compared, computes the memory in use again for each event. If the blocks in use
are added up after each event, the ratio is 9 to 22. With a running sum and a search in a list, it is 47 to 50, and with
a running sum and a dict 132 to 174 (1000 events, Python 3.11). A submission that replaces the loop for timed calls, and
frees its arguments in calls that do not count, gains another 1.14 times. So full points need 1.4 times 50.

The timed recordings are random, and so are the long ones that answers are checked on. The latter begin in the middle,
so that they have frees of addresses that are not in use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import FUNCTION_NAMES, RowsScenario, invented
from grader.tasks.simulated import shuffled
from grader.values import Value

Event = tuple[str, int, int, str]
"""An event: "alloc" or "free", the number of the address, the bytes, and the function. A free has 0 and "" there."""


TIMED_EVENTS: Final = 1000
"""The number of events of a recording that is timed."""

TIMED_FUNCTIONS: Final = 8


FREED: Final = "Memory that was freed before the peak does not count."
FIRST_PEAK: Final = "If the sum is largest at several times, use the first of them."
UNKNOWN: Final = "Ignore a free whose address is not in use: its block was allocated before the recording began."
AGAIN: Final = "After a free, a new block can get the same address, with another size and another function."
TOGETHER: Final = "The peak is the largest sum over all functions, not the largest memory of each function."


@dataclass
class Blocks(RowsScenario):
    """A recording: allocations and frees in order of time."""

    events: tuple[Event, ...]
    function = "at_peak"
    order = "the most bytes first; equal bytes by name"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `at_peak`: the events as rows."""
        return ([list(event) for event in self.events],)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: the bytes of each function at the first largest sum, computed again for each time."""
        moments = [_in_use(self.events[: end + 1]) for end in range(len(self.events))]
        sums = [sum(found.values()) for found in moments]
        held = moments[sums.index(max(sums))] if any(sums) else {}
        return [[name, held[name]] for name in sorted(held, key=lambda each: (-held[each], each))]


def _in_use(events: Sequence[Event]) -> dict[str, int]:
    """Return the bytes in use of each function after the events."""
    blocks: dict[int, Event] = {}
    for event in events:
        blocks.pop(event[1], None)
        if event[0] == "alloc":
            blocks[event[1]] = event
    names = [name for *_, name in blocks.values()]
    return {each: sum(n_bytes for _, _, n_bytes, name in blocks.values() if name == each) for each in names}


def draw_cases(rng: np.random.Generator) -> tuple[Blocks, ...]:
    """Return the cases in random order: a short recording for each special case, and three long ones."""
    a, b, c = invented(rng, 3, *FUNCTION_NAMES)
    low, high = sorted((a, b))
    s, m, t = (int(n) for n in (rng.integers(10, 100), rng.integers(200, 400), rng.integers(1000, 2000)))
    first, second, third = (int(n) for n in rng.choice(1000, 3, replace=False))
    return shuffled(
        rng,
        (
            Blocks("no events", "For an empty list, return an empty list.", ()),
            Blocks("only a free", UNKNOWN, (_free(first),)),
            Blocks("nothing is freed", FREED, ((_alloc(first, s, a)), _alloc(second, m, b), _alloc(third, t, a))),
            Blocks(
                "the peak is in the middle",
                FREED,
                (_alloc(first, m, a), _alloc(second, t, b), _free(second), _alloc(third, s, c)),
            ),
            Blocks(
                "a function without memory at the peak",
                "Return only functions that have memory at the peak.",
                (_alloc(first, m, a), _free(first), _alloc(second, t, b)),
            ),
            Blocks(
                "each function has its own peak",
                TOGETHER,
                (_alloc(first, m, a), _free(first), _alloc(second, t, b), _alloc(third, s, a), _free(third)),
            ),
            Blocks(
                "an address is used again",
                AGAIN,
                (_alloc(first, s, a), _free(first), _alloc(first, t, b), _alloc(second, m, c)),
            ),
            Blocks(
                "an address is used again by a smaller block",
                AGAIN,
                (_alloc(first, t, a), _free(first), _alloc(first, s, b), _alloc(second, t, c)),
            ),
            Blocks(
                "a free of an unknown address",
                UNKNOWN,
                (_alloc(first, s, a), _free(third), _alloc(second, m, b), _free(first), _free(third)),
            ),
            Blocks(
                "an unknown address is freed, and then used twice",
                AGAIN,
                (_free(third), _alloc(third, m, a), _alloc(second, s, b), _free(third), _alloc(third, t, c)),
            ),
            Blocks(
                "two peaks of the same size",
                FIRST_PEAK,
                (_alloc(first, m, a), _alloc(second, s, b), _free(first), _alloc(third, m, c)),
            ),
            Blocks(
                "equal sizes", "Sort functions of equal size by name.", (_alloc(first, m, high), _alloc(second, m, low))
            ),
            *(Blocks(LONG, f"{FREED} {UNKNOWN}", _drawn(rng)[FIRST:]) for _ in range(3)),
        ),
    )


LONG: Final = "a long recording"
FIRST: Final = 100
"""The position in a random recording at which a recording that answers are checked on begins."""


def draw_timed(rng: np.random.Generator) -> tuple[Blocks, ...]:
    """Return a random recording that is timed."""
    return (Blocks(LONG, "", _drawn(rng)),)


def _drawn(rng: np.random.Generator) -> tuple[Event, ...]:
    """Return random events. The memory in use grows, and then it shrinks."""
    names, addresses = invented(rng, TIMED_FUNCTIONS, *FUNCTION_NAMES), rng.permutation(TIMED_EVENTS).tolist()
    share = np.linspace(rng.uniform(0.66, 0.72), rng.uniform(0.36, 0.42), TIMED_EVENTS)
    allocates = (rng.random(TIMED_EVENTS) < share).tolist()
    places, sizes = rng.random(TIMED_EVENTS).tolist(), rng.integers(16, 2000, TIMED_EVENTS).tolist()
    owners = rng.integers(len(names), size=TIMED_EVENTS).tolist()
    free, used, events = addresses, list[int](), list[Event]()
    for is_alloc, place, size, owner in zip(allocates, places, sizes, owners, strict=True):
        source, target = (free, used) if is_alloc or not used else (used, free)
        address = source.pop(int(place * len(source)))
        target.append(address)
        events.append(_alloc(address, size, names[owner]) if target is used else _free(address))
    return tuple(events)


def _alloc(address: int, n_bytes: int, name: str) -> Event:
    return ("alloc", address, n_bytes, name)


def _free(address: int) -> Event:
    return ("free", address, 0, "")


AT_PEAK = Task(
    summary="find the memory at the peak, 70 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(3.2, 0.7), Tier(70.0, 1.0)),
    hints=(
        "How does the memory in use change with one event? Which events must your code read again for the next event?",
        (
            "Keep a dict of the blocks in use, with the address as the key, and one number for the sum of all blocks. "
            "Then one pass over the events finds the position of the peak."
        ),
        (
            "In a first pass, add the bytes of each alloc to the sum, and subtract the bytes of the block that a free "
            "removes: blocks.pop(address, None) returns None for an unknown address. Remember the position of the "
            "first largest sum. In a second pass up to this position, keep only the blocks in use. Then add them up by "
            "function."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 17, “Each allocation: memray”",
    idea=(
        "Each event changes the sum by one block, so the sum needs no second look at earlier events. The bytes of each "
        "function are needed only at the peak. So the solution first finds the peak, and then adds up the blocks once."
    ),
    references=(
        "memray.FileReader.get_high_watermark_allocation_records does the same for a whole recording. memray keeps "
        "such sums while it reads the file, so that it reads the file only once."
    ),
    least_gain=1.3,
)

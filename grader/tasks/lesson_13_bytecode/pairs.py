"""Task (b) of lesson 13: count pairs of opcodes, with the loops in C instead of Python.

The baseline, with which submissions are compared, searches each pair in a list of rows. A list of data classes is 5
times as fast. A dict with a loop over indices is 16 to 20 times as fast, and a loop over `zip` with `get` or a Counter
28 to 50 times (Python 3.11, 3.13 and 3.14). The trace is long, so that the types of the numbers in the answer matter
little.

The scenarios are random traces of opcodes in the order of execution.

The next opcode depends on the previous opcode, as in real programs: after each opcode, a few opcodes are frequent. The
code counts pairs while it chooses the opcodes. It does not count the pairs of a finished trace, because students could
hand in such code as a solution.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import RowsScenario
from grader.values import Value

TIMED_LENGTH: Final = 25_000
NAMES: Final = (
    *("BINARY_OP", "CONTAINS_OP", "BUILD_LIST", "CALL", "COMPARE_OP", "FOR_ITER", "JUMP_BACKWARD", "LIST_APPEND"),
    *("LOAD_ATTR", "LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "GET_ITER", "POP_TOP", "STORE_FAST"),
    *("STORE_SUBSCR", "UNPACK_SEQUENCE"),
)
"""Names of opcodes that every version of Python from 3.11 to 3.15 has."""

FOLLOWERS: Final = 4
"""The number of opcodes that are frequent after an opcode."""


@dataclass
class Opcodes(RowsScenario):
    """A trace of executed opcodes, and the number of times that each pair occurs in it."""

    trace: list[str]
    times: Mapping[tuple[str, str], int]
    function = "pairs"
    order = "the largest number of times first; equal numbers by the first name, then by the second"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of the submission's function `pairs`: the trace."""
        return (list(self.trace),)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: rows with the numbers of pairs."""
        rows = sorted((-count, first, second) for (first, second), count in self.times.items() if count > 1)
        return [[first, second, -count] for count, first, second in rows]


def draw_cases(rng: np.random.Generator) -> tuple[Opcodes, ...]:
    """Return a random trace for each special case, and a long trace."""
    a, b, c = sorted(str(name) for name in rng.choice(NAMES, 3, replace=False))
    return (
        Opcodes("an empty trace", "For an empty trace, return an empty list.", [], {}),
        Opcodes("a single opcode", "A single opcode is not a pair.", [a], {}),
        Opcodes("one pair, twice", "Each opcode except the last is the first of a pair.", [a, b, a, b], {(a, b): 2}),
        Opcodes(
            "one opcode, four times", "Pairs overlap: four opcodes in a row form three pairs.", [a] * 4, {(a, a): 3}
        ),
        Opcodes("there and back", "The order within a pair matters.", [a, b, a, b, a, b, a], {(a, b): 3, (b, a): 3}),
        Opcodes(
            "equal numbers",
            "Sort equal numbers by the names.",
            [c, b, c, b, a, b, a, c, a, c, a],
            {(c, b): 2, (b, a): 2, (a, c): 2, (c, a): 2},
        ),
        Opcodes("a pair that occurs once", "Leave out pairs that occur only once.", [a, b, c, b, c], {(b, c): 2}),
        Opcodes(
            "a whole trace",
            "Test your function on a trace of a few opcodes: count the pairs by hand, and compare the two results.",
            *_trace(rng, 400),
        ),
    )


def draw_timed(rng: np.random.Generator) -> tuple[Opcodes, ...]:
    """Return a random trace that is timed."""
    return (Opcodes("a long trace", "", *_trace(rng, TIMED_LENGTH)),)


def _trace(rng: np.random.Generator, length: int) -> tuple[list[str], Counter[tuple[str, str]]]:
    follow = rng.integers(len(NAMES), size=(len(NAMES), FOLLOWERS)).tolist()
    frequent = rng.random(length) < 0.97
    drawn = np.where(frequent, rng.integers(FOLLOWERS, size=length), rng.integers(len(NAMES), size=length)).tolist()
    last, times = drawn[0], Counter[tuple[str, str]]()
    trace = [NAMES[last]]
    for is_frequent, number in zip(frequent[1:].tolist(), drawn[1:], strict=True):
        following = follow[last][number] if is_frequent else number
        times[NAMES[last], NAMES[following]] += 1
        trace.append(NAMES[following])
        last = following
    return trace, times


PAIRS = Task(
    summary="count which opcodes follow each other, 23.6 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(10.0, 0.6), Tier(23.6, 1.0)),
    hints=(
        (
            "Does your code search all rows for each pair? A dict finds a pair without a search. Then look at the "
            "opcodes of one round of your loop (dis.dis shows them). How many of these opcodes only fetch the two "
            "names? Each of them takes time in every round."
        ),
        (
            "A for loop over zip(trace, trace[1:]) gives both names without an index. A comprehension needs no calls "
            "of append. But as long as Python loops over the names, it executes several opcodes per name."
        ),
        (
            "Move the loop into C: Counter(zip(trace, trace[1:])) executes a few opcodes for a trace of any length. "
            "Sorting is stable, so sort the pairs by name first, and then by number. With key=counter.__getitem__ the "
            "sort calls no Python code."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 13, “Counting executed opcodes”",
    idea=(
        "A loop in Python takes time for every opcode that it executes, so the solution moves the loop into C: zip (or "
        "itertools.pairwise) and Counter go through the trace in C. The solution does the remaining work once for each "
        "different pair. Only the time shows what is gained: a call of a builtin is one opcode, or two in Python "
        "3.11, whether it takes nanoseconds or minutes."
    ),
    references=(
        "The documentation of the module dis lists all opcodes. The developers of Python chose its superinstructions, "
        "such as LOAD_FAST_LOAD_FAST, from such counts of pairs."
    ),
    least_gain=1.3,
)

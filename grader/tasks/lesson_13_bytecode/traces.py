"""The scenarios of the task `pairs`: random traces of opcodes in the order of execution.

The next opcode depends on the previous opcode, as in real programs: after each opcode, a few opcodes are frequent. The
code counts pairs while it chooses the opcodes. It does not count the pairs of a finished trace, because students could
hand in such code as a solution.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import SimulatedFunction
from grader.tasks.plain import RowsScenario
from grader.values import Value

TIMED_LENGTH: Final = 5000
NAMES: Final = (
    *("BINARY_OP", "CONTAINS_OP", "BUILD_LIST", "CALL", "COMPARE_OP", "FOR_ITER", "JUMP_BACKWARD", "LIST_APPEND"),
    *("LOAD_ATTR", "LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "GET_ITER", "POP_TOP", "STORE_FAST"),
    *("STORE_SUBSCR", "UNPACK_SEQUENCE"),
)
"""Names of opcodes that every version of Python from 3.11 to 3.15 has."""

FOLLOWERS: Final = 4
"""The number of opcodes that are frequent after an opcode."""


@dataclass
class Trace(RowsScenario):
    """A trace of executed opcodes, and the number of times that each pair occurs in it."""

    title: str
    trace: list[str]
    times: Mapping[tuple[str, str], int]
    advice: str = ""
    function: str = "pairs"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of the submission's function `pairs`: the trace."""
        return (list(self.trace),)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: rows with the numbers of pairs."""
        rows = sorted((-count, first, second) for (first, second), count in self.times.items() if count > 1)
        return [[first, second, -count] for count, first, second in rows]


def draw_cases(rng: np.random.Generator) -> tuple[Trace, ...]:
    """Return a random trace for each special case, and a long trace."""
    a, b, c = sorted(str(name) for name in rng.choice(NAMES, 3, replace=False))
    return (
        Trace("an empty trace", [], {}, "For an empty trace, return an empty list."),
        Trace("a single opcode", [a], {}, "A single opcode is not a pair."),
        Trace("one pair, twice", [a, b, a, b], {(a, b): 2}, "Each opcode except the last is the first of a pair."),
        Trace("one opcode, four times", [a] * 4, {(a, a): 3}, "Pairs overlap: four opcodes in a row form three pairs."),
        Trace("there and back", [a, b, a, b, a, b, a], {(a, b): 3, (b, a): 3}, "The order within a pair matters."),
        Trace(
            "equal numbers",
            [c, b, c, b, a, b, a, c, a, c, a],
            {(c, b): 2, (b, a): 2, (a, c): 2, (c, a): 2},
            "Sort equal numbers by the names.",
        ),
        Trace("a pair that occurs once", [a, b, c, b, c], {(b, c): 2}, "Leave out pairs that occur only once."),
        Trace(
            "a whole trace",
            *_trace(rng, 400),
            ("Test your function on a trace of a few opcodes: count the pairs by hand, and compare the two results."),
        ),
    )


def draw_timed(rng: np.random.Generator) -> tuple[Trace, ...]:
    """Return a random trace that is timed."""
    return (Trace("a long trace", *_trace(rng, TIMED_LENGTH)),)


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

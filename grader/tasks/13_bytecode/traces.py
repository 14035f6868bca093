"""What `pairs` is given: the opcodes of a program in the order in which they were executed, drawn from a seed.

The next opcode depends on the last, as in programs: each has a few that mostly follow it. How often a pair occurs is
noted while the trace is drawn. No code here counts the pairs of a trace.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered
from grader.tasks.plain import RowsWorld
from grader.values import Value

COUNTED_LENGTH: Final = 2500
COUNTED_CALLS: Final = 2
NAMES: Final = (
    *("BINARY_OP", "CONTAINS_OP", "BUILD_LIST", "CALL", "COMPARE_OP", "FOR_ITER", "JUMP_BACKWARD", "LIST_APPEND"),
    *("LOAD_ATTR", "LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "GET_ITER", "POP_TOP", "STORE_FAST"),
    *("STORE_SUBSCR", "UNPACK_SEQUENCE"),
)
"""Opcodes that every version of Python from 3.11 to 3.15 has."""

FOLLOWERS: Final = 4
"""How many opcodes mostly come after one."""


@dataclass
class Trace(RowsWorld):
    """One trace, to be counted by pairs."""

    title: str
    trace: list[str]
    times: Mapping[tuple[str, str], int]
    advice: str = ""
    function: str = "pairs"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The trace."""
        return (list(self.trace),)

    @property
    def right(self) -> list[list[Value]]:
        """The rows that are asked for, from the planted numbers."""
        rows = sorted((-count, first, second) for (first, second), count in self.times.items() if count > 1)
        return [[first, second, -count] for count, first, second in rows]


def draw_cases(rng: np.random.Generator) -> tuple[Trace, ...]:
    """Draw what is easily overlooked, each by itself, and a whole trace."""
    a, b, c = sorted(str(name) for name in rng.choice(NAMES, 3, replace=False))
    return (
        Trace("an empty trace", [], {}, "No opcodes, no pairs."),
        Trace("a single opcode", [a], {}, "One opcode is no pair."),
        Trace("one pair, twice", [a, b, a, b], {(a, b): 2}, "Each opcode but the last is the first of a pair."),
        Trace("one opcode, four times", [a] * 4, {(a, a): 3}, "Pairs overlap: four in a row are three pairs."),
        Trace("there and back", [a, b, a, b, a, b, a], {(a, b): 3, (b, a): 3}, "Which one comes first matters."),
        Trace(
            "equal numbers",
            [c, b, c, b, a, b, a, c, a, c, a],
            {(c, b): 2, (b, a): 2, (a, c): 2, (c, a): 2},
            "Equal numbers: in order of the names.",
        ),
        Trace("what occurs once", [a, b, c, b, c], {(b, c): 2}, "A pair that occurs only once is left out."),
        Trace("a whole trace", *_trace(rng, 400), "Compare with a trace of a few opcodes, counted by hand."),
    )


def draw_counted(rng: np.random.Generator) -> tuple[Trace, ...]:
    """Draw the traces that a function works on while its opcodes are counted."""
    return tuple(Trace("a long trace", *_trace(rng, COUNTED_LENGTH)) for _ in range(COUNTED_CALLS))


def _trace(rng: np.random.Generator, length: int) -> tuple[list[str], Counter[tuple[str, str]]]:
    """Draw a trace, and how often each pair occurs in it."""
    follow = {name: rng.choice(NAMES, FOLLOWERS) for name in NAMES}
    trace, times = [str(rng.choice(NAMES))], Counter[tuple[str, str]]()
    while len(trace) < length:
        drawn = str(rng.choice(follow[trace[-1]] if rng.random() < 0.97 else NAMES))
        times[trace[-1], drawn] += 1
        trace.append(drawn)
    return trace, times

"""Task (a) of lesson 09: compute own and cumulative times of each function from a call tree with totals.

The baseline, with which submissions are compared, goes through all rows for each function, and searches callers and
called rows among all rows. A single pass over the rows is 1.4 to 1.7 times as fast. With the callers on a stack, it is
4.0 times as fast. If each total is also subtracted from its caller, it is 15 to 21 times as fast, and 10 times if each
number of the answer becomes one of NumPy (800 rows, Python 3.11). The trees are random and deep, so that a search below
a row takes long.

Answers are checked on such trees too. Their shapes, names and times are drawn anew, so no answer is known in advance.
The totals are computed from the own times.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import FUNCTION_NAMES, RowsScenario, invented, random_depths
from grader.values import Value

Node = tuple[int, str, int, int]
"""A call tree's node: depth (0: root), function name, number of calls by its caller, and own time in µs."""


TIMED_ROWS: Final = 800
"""The number of rows of a call tree that is timed."""

TIMED_FUNCTIONS: Final = 80

BACK, MOST = 2, 100  # the most levels between a row and a next row that is not deeper, and the greatest depth
DEEPER: Final = 0.7
"""The probability that the next row of a random tree is one deeper than a row. Such trees reach the greatest depth."""


@dataclass
class CallTree(RowsScenario):
    """A call tree: nodes in the order of the calls, each with a name, a number of calls, and its own time."""

    nodes: tuple[Node, ...]
    function = "own_time"
    order = "the largest own time first; equal own times by name"

    @cached_property
    def ends(self) -> list[int]:
        """For each node, the index after its last descendant. It is found by a search.

        A stack would be faster, but is the solution.
        """
        depths = [depth for depth, *_ in self.nodes]
        last = len(depths)
        return [next((n for n in range(at + 1, last) if depths[n] <= depths[at]), last) for at in range(last)]

    @property
    def totals_us(self) -> list[int]:
        """The total time of each node: its own time plus the own times of all its descendants."""
        return [sum(node[3] for node in self.nodes[place:end]) for place, end in enumerate(self.ends)]

    def _is_outermost(self, place: int) -> bool:
        name = self.nodes[place][1]
        return not any(self.ends[other] > place for other in range(place) if self.nodes[other][1] == name)

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `own_time`: the tree as rows with totals."""
        totals = self.totals_us
        return ([[depth, name, calls, totals[n]] for n, (depth, name, calls, _) in enumerate(self.nodes)],)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: rows with own times, and cumulative times computed from them."""
        calls: dict[str, int] = {}
        own: dict[str, int] = {}
        cumulative: dict[str, int] = {}
        for place, ((_, name, times, own_us), total_us) in enumerate(zip(self.nodes, self.totals_us, strict=True)):
            calls[name] = calls.get(name, 0) + times
            own[name] = own.get(name, 0) + own_us
            cumulative[name] = cumulative.get(name, 0) + self._is_outermost(place) * total_us
        return [
            [name, calls[name], own[name], cumulative[name]]
            for name in sorted(own, key=lambda each: (-own[each], each))
        ]


def draw_cases(rng: np.random.Generator) -> tuple[CallTree, ...]:
    """Return a random call tree for each special case, and three larger trees."""
    a, b, c, d = invented(rng, 4, *FUNCTION_NAMES)
    t = [int(n) for n in rng.integers(10, 1000, 8)]
    low, high = sorted((a, b))
    return (
        CallTree("no rows", "For an empty list of rows, return an empty list.", ()),
        CallTree(
            "one function", "If a function calls no other function, its own time is its total.", ((0, a, 1, t[0]),)
        ),
        CallTree("a chain", BELOW, ((0, a, 1, t[0]), (1, b, 3, t[1]), (2, c, 5, t[2]))),
        CallTree(
            "one function calls three", BELOW, ((0, a, 1, t[0]), (1, b, 2, t[1]), (1, c, 1, t[2]), (1, d, 4, t[3]))
        ),
        CallTree(
            "called from two places",
            "Add up all rows of a function.",
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, d, 2, t[2]), (1, c, 1, t[3]), (2, d, 3, t[4])),
        ),
        CallTree(
            "two roots",
            "Each row at depth 0 is a root.",
            ((0, a, 1, t[0]), (1, c, 1, t[1]), (0, b, 1, t[2]), (1, c, 1, t[3])),
        ),
        CallTree(
            "calls itself",
            RECURSIVE,
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, b, 1, t[2]), (3, b, 2, t[3]), (3, c, 1, t[4])),
        ),
        CallTree(
            "calls itself through another function",
            RECURSIVE,
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, c, 1, t[2]), (3, b, 1, t[3]), (1, c, 1, t[4]), (2, b, 1, t[5])),
        ),
        CallTree(
            "equal own times", "Sort equal times by name.", ((0, c, 1, t[0]), (1, high, 1, t[1]), (1, low, 1, t[1]))
        ),
        CallTree("no own time", "An own time can be 0.", ((0, a, 1, 0), (1, b, 1, t[0]), (1, c, 1, 0))),
        CallTree(
            "more than a thousand deep", "A tree may be deeper than Python's recursion limit.", _deep(rng, a, b, 1200)
        ),
        *(_drawn(rng, f"a tree of {functions} functions", functions) for functions in (10, 20, 40)),
    )


BELOW: Final = "Own time is a row's total minus the totals of the rows that it calls, which are one deeper."
RECURSIVE: Final = (
    "A total includes the totals of the same function below it. So add only the outermost of these totals to the "
    "cumulative time."
)


def draw_timed(rng: np.random.Generator) -> tuple[CallTree, ...]:
    """Return a call tree of random shape that is timed."""
    return (_drawn(rng, "a deep tree", TIMED_FUNCTIONS),)


def _drawn(rng: np.random.Generator, title: str, functions: int) -> CallTree:
    names = invented(rng, functions, *FUNCTION_NAMES)
    depths = random_depths(rng, TIMED_ROWS, DEEPER, BACK, MOST)
    drawn = (rng.integers(low, high, TIMED_ROWS).tolist() for low, high in ((0, len(names)), (1, 9), (0, 1000)))
    rows = zip(depths, *drawn, strict=True)
    return CallTree(
        title,
        "Test your function on a tree of a few rows: compute the times by hand, and compare the two results.",
        tuple((depth, names[which], calls, own) for depth, which, calls, own in rows),
    )


def _deep(rng: np.random.Generator, one: str, other: str, depth: int) -> tuple[Node, ...]:
    return tuple((at, (one, other)[at % 2], 1, int(own_us)) for at, own_us in enumerate(rng.integers(1, 50, depth)))


OWN_TIME = Task(
    summary="compute own and cumulative times, six times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(2.2, 0.7), Tier(6.0, 1.0)),
    hints=(
        "Which rows can be the caller of a row? How many rows does your code read to find the caller?",
        (
            "Go through the rows once, from top to bottom. Keep a list of the open rows: the open row at depth d is "
            "the caller of the next row at depth d + 1. The own time of a row is its total minus the totals of the "
            "rows that it calls."
        ),
        (
            "Keep a list of names, called path. For each row, del path[depth:], so that path[-1] is the caller. Add "
            "the row's total to own[name], and subtract it from own[path[-1]]. Add it to cumulative[name] only if the "
            "name is not in path. Then path.append(name). Sort once at the end."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 09, “Own time and cumulative time”",
    idea=(
        "The rows are in the order of the calls, so the calls that have not returned form a stack. The stack gives "
        "each row's caller without a search. Own time needs no list of called rows: a row's total is added to its "
        "function and subtracted from the function of its caller. If a function is on the stack already, the total of "
        "its outer call includes the new total."
    ),
    references=(
        "CPython's Modules/_lsprof.c implements cProfile. cProfile keeps the same stack, and updates this stack at "
        "every call and return while the program runs."
    ),
)

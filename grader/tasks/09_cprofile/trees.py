"""What `own_time` is given: call trees of real programs, with functions and times that are drawn anew.

The shapes are recorded (`recorded`): who calls whom, how deep, how often, and how a function calls itself. In each
world the functions go by other names and every node's own time is multiplied by another factor, so that no answer is
known beforehand; totals follow from own times, and so the truth is planted.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from grader.task import Metered
from grader.tasks.plain import RowsWorld
from grader.values import Value

from .recorded import Node, load

COUNTED: Final = ("ast.unparse", "copy.deepcopy", "re.compile")
"""The recorded programs that a function works on while its opcodes are counted."""

VERBS: Final = ("add", "bind", "cast", "draw", "emit", "find", "join", "load", "make", "pack", "read", "scan", "walk")
THINGS: Final = ("block", "cell", "edge", "field", "group", "item", "key", "line", "node", "page", "row", "tag")


@dataclass
class CallTree(RowsWorld):
    """One call tree, each node with the own time that was planted."""

    title: str
    nodes: tuple[Node, ...]
    advice: str = ""
    function: str = "own_time"
    cost: float = 1.0

    @cached_property
    def ends(self) -> list[int]:
        """For each node the place behind all that lies below it. This looks at each of them; a stack is the answer."""
        depths = [depth for depth, *_ in self.nodes]
        last = len(depths)
        return [next((n for n in range(at + 1, last) if depths[n] <= depths[at]), last) for at in range(last)]

    @property
    def totals_us(self) -> list[int]:
        """For each node its own time, and that of all below it."""
        return [sum(node[3] for node in self.nodes[place:end]) for place, end in enumerate(self.ends)]

    def _is_outermost(self, place: int) -> bool:
        """Return whether this node lies below no node of the same function."""
        name = self.nodes[place][1]
        return not any(self.ends[other] > place for other in range(place) if self.nodes[other][1] == name)

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The tree as rows."""
        totals = self.totals_us
        return ([[depth, name, calls, totals[n]] for n, (depth, name, calls, _) in enumerate(self.nodes)],)

    @property
    def right(self) -> list[list[Value]]:
        """The rows that are asked for: own times as planted, totals from them."""
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
    """Draw what is easily overlooked, each by itself, and every recorded program."""
    a, b, c, d = _names(rng, 4)
    t = [int(n) for n in rng.integers(10, 1000, 8)]
    low, high = sorted((a, b))
    return (
        CallTree("no rows", (), "No rows, no functions."),
        CallTree("one function", ((0, a, 1, t[0]),), "Whoever calls nobody has all of its time to itself."),
        CallTree("a chain", ((0, a, 1, t[0]), (1, b, 3, t[1]), (2, c, 5, t[2])), BELOW),
        CallTree("three called by one", ((0, a, 1, t[0]), (1, b, 2, t[1]), (1, c, 1, t[2]), (1, d, 4, t[3])), BELOW),
        CallTree(
            "called from two places",
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, d, 2, t[2]), (1, c, 1, t[3]), (2, d, 3, t[4])),
            "A function with several rows: add them up.",
        ),
        CallTree(
            "two roots", ((0, a, 1, t[0]), (1, c, 1, t[1]), (0, b, 1, t[2]), (1, c, 1, t[3])), "At 0 a root begins."
        ),
        CallTree(
            "calls itself",
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, b, 1, t[2]), (3, b, 2, t[3]), (3, c, 1, t[4])),
            RECURSIVE,
        ),
        CallTree(
            "calls itself by way of another",
            ((0, a, 1, t[0]), (1, b, 1, t[1]), (2, c, 1, t[2]), (3, b, 1, t[3]), (1, c, 1, t[4]), (2, b, 1, t[5])),
            RECURSIVE,
        ),
        CallTree("equal own times", ((0, c, 1, t[0]), (1, high, 1, t[1]), (1, low, 1, t[1])), "Equal ones: by name."),
        CallTree("nothing of its own", ((0, a, 1, 0), (1, b, 1, t[0]), (1, c, 1, 0)), "An own time can be 0."),
        CallTree(
            "more than a thousand deep", _deep(rng, a, b, 1200), "A row for every call that is open: it may be long."
        ),
        *(_drawn(rng, program) for program in load()),
    )


BELOW: Final = "Own time is a row's total less the totals of those it called itself: they lie one deeper."
RECURSIVE: Final = "A total already holds those of the same function below it: count cumulative time outermost."


def draw_counted(rng: np.random.Generator) -> tuple[CallTree, ...]:
    """Draw the trees that a function works on while its opcodes are counted."""
    return tuple(_drawn(rng, program) for program in COUNTED)


def _drawn(rng: np.random.Generator, program: str) -> CallTree:
    nodes = load()[program]
    names = list(dict.fromkeys(name for _, name, _, _ in nodes))
    called = dict(zip(names, _names(rng, len(names)), strict=True))
    factors = rng.uniform(0.3, 3.0, len(nodes))
    drawn = tuple(
        (depth, called[name], calls, int(own_us * factor))
        for (depth, name, calls, own_us), factor in zip(nodes, factors, strict=True)
    )
    return CallTree(f"{program}, recorded", drawn, "Compare with a tree of a few rows, worked out by hand.")


def _deep(rng: np.random.Generator, one: str, other: str, depth: int) -> tuple[Node, ...]:
    return tuple((at, (one, other)[at % 2], 1, int(own_us)) for at, own_us in enumerate(rng.integers(1, 50, depth)))


def _names(rng: np.random.Generator, number: int) -> list[str]:
    """So many different names."""
    whole = [f"{verb}_{thing}" for verb in VERBS for thing in THINGS]
    return [str(name) for name in rng.choice(whole, number, replace=False)]

"""What `by_function` is given: lines of a count, `4821 name of a function`, with the same functions again and again.

The total of each function is known from the draw, before there are lines. No code here adds lines up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered
from grader.tasks.plain import RowsWorld
from grader.values import Value

FUNCTIONS: Final = 45
"""How many different functions a listing names where answers are checked."""

COUNTED_LINES: Final = 1000
COUNTED_CALLS: Final = 3
COUNTED_FUNCTIONS: Final = 200
"""So many that a search costs much more than anything else. Then the ways to search differ by factors, and no version
of Python brings two of them near each other."""

PARTS: Final = ("add", "copy", "find", "free", "grow", "hash", "join", "load", "move", "read", "scan", "sort", "trim")
TAILS: Final = ("", "", "(int)", "(unsigned long)", "<int, long>", " [clone]", "'2")
"""Names as Callgrind shows them: of C, and of C++ with spaces in them."""


@dataclass
class Listing(RowsWorld):
    """Lines to be added up."""

    title: str
    lines: list[str]
    totals: Mapping[str, int]
    advice: str = ""
    function: str = "by_function"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The lines."""
        return (list(self.lines),)

    @property
    def right(self) -> list[list[Value]]:
        """The rows that are asked for, from the planted totals."""
        rows = sorted((-total, name) for name, total in self.totals.items() if total)
        return [[name, -total] for total, name in rows]


def draw_cases(rng: np.random.Generator) -> tuple[Listing, ...]:
    """Draw what is easily overlooked, each by itself, and all of it together."""
    a, b, c = sorted(_names(rng, 3))
    one, other = (int(n) for n in rng.integers(10, 10_000, 2))
    return (
        Listing("no lines", [], {}, "No lines, no rows."),
        Listing(
            "one function, three times",
            [f"{one} {a}", f"{other} {a}", f"{one} {a}"],
            {a: 2 * one + other},
            "Add up what is one's.",
        ),
        Listing(
            "names with spaces",
            [f"{one} {a} (int)", f"{other} {a} (long)"],
            {f"{a} (int)": one, f"{a} (long)": other},
            "All behind the first space is name.",
        ),
        Listing(
            "the same total twice",
            [f"{one} {c}", f"{one} {b}", f"{one} {a}"],
            {a: one, b: one, c: one},
            "Equal totals: in order of name.",
        ),
        Listing(
            "a total of zero",
            [f"{one} {a}", f"-{one} {a}", f"{other} {b}"],
            {a: 0, b: other},
            "A total of zero is left out.",
        ),
        Listing(
            "totals below zero",
            [f"-{one} {a}", f"{one} {b}", f"-{one + 1} {c}"],
            {a: -one, b: one, c: -one - 1},
            "The largest total first.",
        ),
        Listing(
            "a whole count", *_lines(rng, 400, FUNCTIONS), "Compare with a count of a few lines, added up by hand."
        ),
    )


def draw_counted(rng: np.random.Generator) -> tuple[Listing, ...]:
    """Draw the listings that a function works on while its instructions are counted."""
    return tuple(Listing("a long count", *_lines(rng, COUNTED_LINES, COUNTED_FUNCTIONS)) for _ in range(COUNTED_CALLS))


def _lines(rng: np.random.Generator, number: int, functions: int) -> tuple[list[str], dict[str, int]]:
    """Draw so many lines, and the total of each function."""
    names = _names(rng, functions)
    counts, which = rng.integers(-2000, 100_000, number), rng.integers(functions, size=number)
    totals = {name: int(counts[which == place].sum()) for place, name in enumerate(names)}
    return [f"{count} {names[place]}" for count, place in zip(counts, which, strict=True)], totals


def _names(rng: np.random.Generator, number: int) -> list[str]:
    """So many different names."""
    found: dict[str, None] = {}
    while len(found) < number:
        first, second = rng.choice(PARTS, 2)
        found[f"{first}_{second}{rng.integers(10, 100)}{rng.choice(TAILS)}"] = None
    return list(found)

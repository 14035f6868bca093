"""Task (b) of lesson 08: compute the same result 3.3 times as fast as the baseline.

The baseline, with which submissions are compared, searches each name in a list of names, one by one, and splits each
line twice. With 600 functions and 4500 lines, a single split is 1.0 to 1.1 times as fast, and `list.index` instead of
the loop 1.4 to 1.6 times. A regular expression, a Counter or a dict are 9 to 17 times as fast, and 6 times if each
number of the answer becomes one of NumPy (Python 3.11).
So full points separate a search in a list from a lookup by hash.

The scenarios are lines such as `4821 name of a function`. A function may have several lines.

The total of each function is computed from the drawn numbers, before they become lines. No code here adds up lines,
because students could hand it in as a solution.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import RowsScenario
from grader.values import Value

FUNCTIONS: Final = 45
"""The number of different functions in the long listing with which answers are checked."""

TIMED_LINES: Final = 4500
TIMED_FUNCTIONS: Final = 600
"""The number of different functions in a listing that is timed. With many functions, a search in a list takes long."""

PARTS: Final = ("add", "copy", "find", "free", "grow", "hash", "join", "load", "move", "read", "scan", "sort", "trim")
TAILS: Final = ("", "", "(int)", "(unsigned long)", "<int, long>", " [clone]", "'2")
"""The endings of function names as Callgrind shows them, in C, and in C++ with spaces."""


@dataclass
class Listing(RowsScenario):
    """Lines such as `4821 name of a function`, whose numbers are to be added up by function."""

    lines: list[str]
    totals: Mapping[str, int]
    function = "by_function"
    order = "the largest total first; equal totals by name"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `by_function`: the list of lines."""
        return (list(self.lines),)

    @property
    def right(self) -> list[list[Value]]:
        """The right answer: rows with each function's total."""
        rows = sorted((-total, name) for name, total in self.totals.items() if total)
        return [[name, -total] for total, name in rows]


def draw_cases(rng: np.random.Generator) -> tuple[Listing, ...]:
    """Return a random listing for each special case, and a long listing."""
    a, b, c = sorted(_names(rng, 3))
    one, other = (int(n) for n in rng.integers(10, 10_000, 2))
    return (
        Listing("no lines", "For an empty list of lines, return an empty list.", [], {}),
        Listing(
            "one function, three times",
            "Add up all lines of a function.",
            [f"{one} {a}", f"{other} {a}", f"{one} {a}"],
            {a: 2 * one + other},
        ),
        Listing(
            "names with spaces",
            "Everything after the first space is the name.",
            [f"{one} {a} (int)", f"{other} {a} (long)"],
            {f"{a} (int)": one, f"{a} (long)": other},
        ),
        Listing(
            "the same total twice",
            "Sort equal totals by name.",
            [f"{one} {c}", f"{one} {b}", f"{one} {a}"],
            {a: one, b: one, c: one},
        ),
        Listing(
            "a total of zero",
            "Leave out totals of zero.",
            [f"{one} {a}", f"-{one} {a}", f"{other} {b}"],
            {a: 0, b: other},
        ),
        Listing(
            "totals below zero",
            "Sort by total, the largest first.",
            [f"-{one} {a}", f"{one} {b}", f"-{one + 1} {c}"],
            {a: -one, b: one, c: -one - 1},
        ),
        Listing(
            "a whole count",
            "Test your function on a listing of a few lines: add up the numbers by hand, and compare the two results.",
            *_lines(rng, 400, FUNCTIONS),
        ),
    )


def draw_timed(rng: np.random.Generator) -> tuple[Listing, ...]:
    """Return a random listing that is timed."""
    return (Listing("a long count", "", *_lines(rng, TIMED_LINES, TIMED_FUNCTIONS)),)


def _lines(rng: np.random.Generator, number: int, functions: int) -> tuple[list[str], dict[str, int]]:
    names = _names(rng, functions)
    counts, which = rng.integers(-2000, 100_000, number), rng.integers(functions, size=number)
    totals = {name: int(counts[which == place].sum()) for place, name in enumerate(names)}
    return [f"{count} {names[place]}" for count, place in zip(counts, which, strict=True)], totals


def _names(rng: np.random.Generator, number: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        drawn = (rng.integers(len(choices), size=number).tolist() for choices in (PARTS, PARTS, range(90), TAILS))
        for first, second, digits, tail in zip(*drawn, strict=True):
            found[f"{PARTS[first]}_{PARTS[second]}{10 + digits}{TAILS[tail]}"] = None
    return list(found)[:number]


BY_FUNCTION = Task(
    summary="sum instructions by function, 3.3 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(3.3, 1.0),),
    hints=(
        "Which work is repeated for every line, although an earlier line has already done it?",
        (
            "To find a name in a list, Python searches from the beginning. Which of Python's own types finds a name "
            "without a search?"
        ),
        (
            "Keep the totals in a dict whose keys are the names. Split each line once, at its first space: count, "
            'name = line.split(" ", 1). Leave out zeros, and sort once at the end.'
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 08, “Which functions execute the instructions?”",
    idea=(
        "A dict finds a name by its hash instead of comparing it with one name after the other. Each line is split "
        "only once. The counts of a name are collected as text and added up at the end. The call sum(map(int, …)) runs "
        "in C. A loop would take several Python steps for each number."
    ),
    references=(
        "harness.callgrind.script.count_script counts the instructions of any script. dis.dis shows its bytecode, and "
        "lesson 13 shows the cost of each bytecode instruction."
    ),
)

"""Task (b) of lesson 11: compute the boxes of a flame graph from stacks.

Submissions are compared with a slow baseline. It goes through all boxes for each frame of each stack, and through all
stacks for the left edge of each box. For 2000 stacks, of which 60 differ, a dict with paths as keys is 1.7 to 1.9 times
as fast, and the tree of `harness.profiles.flames`, which students have, 2.0 to 2.4 times. So the first points need 3.
Without merging equal stacks, loops in Python are 3.5 to 5.6 times as fast, arrays of node numbers 6.8 times, and trees
of dicts and comparisons of stacks in C 9.6 to 12 times. If equal stacks are merged first, the ratio is 16 to 23 (Python
3.11, 3.13 and 3.14). The stacks are random paths in a random tree.

Answers are checked on such stacks too, with fewer names, so that a function has several callers. As in any profile,
each stack occurs many times.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import RowsScenario, invented, random_depths
from grader.values import Value

TIMED_STACKS: Final = 2000
TIMED_NODES: Final = 60
BACK, MOST = 6, 12
DEEPER: Final = 0.75
WORDS: Final = (
    "batch",
    "cast",
    "draw",
    "embed",
    "fetch",
    "gate",
    "head",
    "input",
    "join",
    "key",
    "loss",
    "mean",
    "norm",
)
PLACES: Final = ("", "_all", "_fast", "_first", "_inner", "_once", "_pair", "_step", "_tail", "_wide")
NAMES: Final = (WORDS, PLACES, ("_f", "_g", "_h"))
"""The parts of a frame's name."""

Stack = tuple[tuple[str, ...], int]
"""The names of a stack's frames, the outermost first, and its own time in microseconds."""


@dataclass
class Stacks(RowsScenario):
    """Stacks with times, from which a submission computes the boxes of a flame graph."""

    stacks: tuple[Stack, ...]
    function = "fold"
    order = (
        "a box before the boxes on top of it, and these before the next box beside it; boxes beside each other by name"
    )

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of the submission's function `fold`: the list of stacks."""
        return ([[list(frames), us] for frames, us in self.stacks],)

    @property
    def right(self) -> list[list[Value]]:
        """The right boxes. For each box, the code goes through all stacks, because faster code would be a solution."""
        paths = sorted({frames[:depth] for frames, _ in self.stacks for depth in range(1, len(frames) + 1)})
        rows: list[list[Value]] = []
        for path in paths:
            left = sum(us for frames, us in self.stacks if frames and _is_before(frames, path))
            width = sum(us for frames, us in self.stacks if _begins(frames, path))
            rows.append([len(path) - 1, path[-1], left, width])
        return rows


def _begins(frames: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(frames) >= len(path) and all(one == other for one, other in zip(frames, path, strict=False))


def _is_before(frames: tuple[str, ...], path: tuple[str, ...]) -> bool:
    differ = [one < other for one, other in zip(frames, path, strict=False) if one != other]
    return differ[0] if differ else len(frames) < len(path)


def draw_cases(rng: np.random.Generator) -> tuple[Stacks, ...]:
    """Return random stacks for each special case, and a whole profile."""
    a, b, c, d = sorted(invented(rng, 4, *NAMES))
    t = [int(n) for n in rng.integers(10, 900, 6)]
    return (
        Stacks("no stacks", "For an empty list of stacks, return an empty list.", ()),
        Stacks("one stack of one frame", "One frame gives one box.", (((a,), t[0]),)),
        Stacks("a stack twice", "A repeated stack makes its boxes wider.", (((a, b), t[0]), ((a, b), t[1]))),
        Stacks("one stack is the beginning of another", OWN_FIRST, (((a, b, c), t[0]), ((a, b), t[1]))),
        Stacks("three boxes on one box", BY_NAME, (((a, d), t[0]), ((a, b), t[1]), ((a,), t[2]), ((a, c), t[3]))),
        Stacks("the same frame on two callers", CALLERS, (((a, c), t[0]), ((b, c), t[1]))),
        Stacks("calls itself", ITSELF, (((a, a, a), t[0]), ((a, a, b), t[1]), ((a,), t[2]))),
        Stacks("the same frames in a different order", CALLERS, (((a, b), t[0]), ((b, a), t[1]), ((a, b), t[2]))),
        Stacks("a stack repeated later", BY_NAME, (((a, b), t[0]), ((c,), t[1]), ((a, b), t[2]), ((a, d), t[3]))),
        Stacks("two boxes at the bottom", BY_NAME, (((d, a), t[0]), ((b, a), t[1]))),
        Stacks(
            "a separator within a name",
            "A name may contain any character. So different names can become equal when you join them with a "
            "separator.",
            (((a, b), t[0]), ((f"{a};{b}",), t[1]), ((f"{a};{b}", c), t[2]), ((a, f"{b};{c}"), t[3])),
        ),
        Stacks("names with a blank or a sign", BY_NAME, (((f"{a} ", b), t[0]), ((a, b), t[1]), ((f"{a}!", b), t[2]))),
        Stacks("a name that begins like another", "Compare whole names.", (((a, b), t[0]), ((f"{a}b", b), t[1]))),
        Stacks("a stack without frames", EMPTY, (((), t[0]), ((b, a), t[1]), ((), t[2]))),
        Stacks(
            "a whole profile",
            "Test your function on three stacks: draw the boxes by hand, and compare the two results.",
            _drawn(rng, 150, TIMED_NODES // 4),
        ),
    )


OWN_FIRST: Final = "From left to right: first a box's own time, then the boxes on top of it."
BY_NAME: Final = "Boxes on top of the same box are in order of name, not in order of occurrence."
CALLERS: Final = "Stacks share a box only if all frames below it are the same too."
ITSELF: Final = "A recursive call gives a new box, one deeper."
EMPTY: Final = "A stack without frames has no box, and takes no space."


def draw_timed(rng: np.random.Generator) -> tuple[Stacks, ...]:
    """Return a profile whose stacks are random paths in a random tree."""
    return (Stacks("a profile", "", _drawn(rng, TIMED_STACKS, TIMED_NODES)),)


def _drawn(rng: np.random.Generator, number: int, functions: int) -> tuple[Stack, ...]:
    """Return stacks from a random tree. With fewer functions than nodes, a function has several nodes."""
    names = invented(rng, functions, *NAMES)
    names += rng.choice(names, TIMED_NODES - functions).tolist()
    paths: list[tuple[str, ...]] = []
    for depth, name in zip(random_depths(rng, TIMED_NODES, DEEPER, BACK, MOST), names, strict=True):
        paths.append((*(paths[-1][:depth] if paths else ()), name))
    which, times = rng.integers(TIMED_NODES, size=number), rng.integers(1, 500, number)
    return tuple((paths[n], us) for n, us in zip(which.tolist(), times.tolist(), strict=True))


FOLD = Task(
    summary="compute the boxes of a flame graph, 8.1 times as fast as the baseline",
    cost=TIME,
    tiers=(Tier(3.0, 0.7), Tier(8.1, 1.0)),
    hints=(
        (
            "How many of the stacks are different? What do you compute twice for two stacks that begin with the same "
            "frames?"
        ),
        (
            "Add up the times of equal stacks first. A tuple of names can be a key of a dict. Then sort the stacks, "
            "so that stacks that begin with the same frames become neighbours."
        ),
        (
            "Go through the sorted stacks with `now`, the total time so far, and a list of open boxes. Count the "
            "frames that a stack shares with the previous stack. Close all boxes above these frames: the width is "
            "`now` minus the left edge. Open a box at `now` for each remaining frame, and append its row. Then add "
            "the stack's time to `now`."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 11, “A flame graph”",
    idea=(
        "A profile contains the same few stacks many times, so equal stacks are merged first. Then a sort makes stacks "
        "with the same beginning neighbours, and a running sum of the times gives all left edges. A box opens where "
        "its first stack begins, and closes where its last stack ends."
    ),
    references=(
        "Brendan Gregg's script stackcollapse writes one line of text per stack, and his script flamegraph.pl reads "
        "these lines. torch's export_stacks writes this format too."
    ),
)

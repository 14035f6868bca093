"""What `fold` is given: stacks with times, as a profiler meets them, drawn from a seed.

The stacks are those of a recorded step of training, met again and again as in any profile, with other names and times.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.task import Metered
from grader.tasks.plain import RowsWorld
from grader.values import Value

from .recorded import stacks

COUNTED_STACKS: Final = 200
COUNTED_WORLDS: Final = 2
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

Stack = tuple[tuple[str, ...], int]
"""Frames, the outermost first, and microseconds."""


@dataclass
class StacksWorld(RowsWorld):
    """Some stacks, to be folded."""

    title: str
    stacks: tuple[Stack, ...]
    advice: str = ""
    function: str = "fold"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The stacks."""
        return ([[list(frames), us] for frames, us in self.stacks],)

    @property
    def right(self) -> list[list[Value]]:
        """The boxes, by the definition: as wide as what begins with its path, and right of all that is smaller.

        Every box asks every stack, frame by frame. Anything quicker would be an answer.
        """
        paths = sorted({frames[:depth] for frames, _ in self.stacks for depth in range(1, len(frames) + 1)})
        rows: list[list[Value]] = []
        for path in paths:
            left = sum(us for frames, us in self.stacks if frames and _is_before(frames, path))
            width = sum(us for frames, us in self.stacks if _begins(frames, path))
            rows.append([len(path) - 1, path[-1], left, width])
        return rows


def _begins(frames: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Return whether a stack begins with a path."""
    return len(frames) >= len(path) and all(one == other for one, other in zip(frames, path, strict=False))


def _is_before(frames: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Return whether a stack comes before a path, in the order of their first frames that differ."""
    differ = [one < other for one, other in zip(frames, path, strict=False) if one != other]
    return differ[0] if differ else len(frames) < len(path)


def draw_cases(rng: np.random.Generator) -> tuple[StacksWorld, ...]:
    """Draw what is easily overlooked, each by itself, and a whole profile."""
    a, b, c, d = sorted(_names(rng, 4))
    t = [int(n) for n in rng.integers(10, 900, 6)]
    return (
        StacksWorld("no stacks", (), "No stacks, no boxes."),
        StacksWorld("one stack of one frame", (((a,), t[0]),), "One frame is one box."),
        StacksWorld("a stack twice", (((a, b), t[0]), ((a, b), t[1])), "The same stack again makes its boxes wider."),
        StacksWorld("one begins like the other", (((a, b, c), t[0]), ((a, b), t[1])), OWN_FIRST),
        StacksWorld("two on one", (((a, d), t[0]), ((a, b), t[1]), ((a,), t[2]), ((a, c), t[3])), BY_NAME),
        StacksWorld("one frame on two", (((a, c), t[0]), ((b, c), t[1])), CALLERS),
        StacksWorld("calls itself", (((a, a, a), t[0]), ((a, a, b), t[1]), ((a,), t[2])), ITSELF),
        StacksWorld("the same frames, another order", (((a, b), t[0]), ((b, a), t[1]), ((a, b), t[2])), CALLERS),
        StacksWorld("met again later", (((a, b), t[0]), ((c,), t[1]), ((a, b), t[2]), ((a, d), t[3])), BY_NAME),
        StacksWorld("two roots", (((d, a), t[0]), ((b, a), t[1])), BY_NAME),
        StacksWorld(
            "a separator within a name",
            (((a, b), t[0]), ((f"{a};{b}",), t[1]), ((f"{a};{b}", c), t[2]), ((a, f"{b};{c}"), t[3])),
            "A name may hold any character: what is joined with one cannot be told apart.",
        ),
        StacksWorld("blanks and signs", (((f"{a} ", b), t[0]), ((a, b), t[1]), ((f"{a}!", b), t[2])), BY_NAME),
        StacksWorld("a name that begins like another", (((a, b), t[0]), ((f"{a}b", b), t[1])), "Names are whole."),
        StacksWorld("a stack without frames", (((), t[0]), ((b, a), t[1]), ((), t[2])), EMPTY),
        StacksWorld("a whole profile", _met(rng, 150), "Compare with three stacks, drawn by hand."),
    )


OWN_FIRST: Final = "From left to right: a box's own time, then the boxes on it."
BY_NAME: Final = "Boxes on the same box stand in order of name, whatever was met first."
CALLERS: Final = "Boxes are the same only when all frames below them are."
ITSELF: Final = "A frame within itself is another box, one deeper."
EMPTY: Final = "A stack without frames has no box, and takes no place."


def draw_counted(rng: np.random.Generator) -> tuple[StacksWorld, ...]:
    """Draw the stacks that a function works on while its opcodes are counted."""
    return tuple(StacksWorld("a profile", _met(rng, COUNTED_STACKS)) for _ in range(COUNTED_WORLDS))


def _met(rng: np.random.Generator, number: int) -> tuple[Stack, ...]:
    """Draw so many stacks out of the recorded ones, their frames by other names."""
    frames = list(dict.fromkeys(frame for stack in stacks() for frame in stack))
    called = dict(zip(frames, _names(rng, len(frames)), strict=True))
    drawn = rng.choice(len(stacks()), number)
    times = rng.integers(1, 500, number)
    return tuple((tuple(called[each] for each in stacks()[n]), int(us)) for n, us in zip(drawn, times, strict=True))


def _names(rng: np.random.Generator, number: int) -> list[str]:
    """So many different names."""
    whole = [f"{word}{place}_{letter}" for word in WORDS for place in PLACES for letter in "fgh"]
    return [str(name) for name in rng.choice(whole, number, replace=False)]

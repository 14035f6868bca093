"""Stacks, folded onto each other: the tree behind a flame graph, and the graph as text.

Each stack comes with a cost. Stacks that begin with the same frames share these, so a frame is as wide as all that was
measured while it was open. Side by side, frames stand in order of their names: from left to right is no order in time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ALL: Final = "all"
"""The name of the frame that everything stands on."""

_BUILTIN: Final = re.compile(r"<(?:built-in_)?(?:method|function)_(.+?)(?:_of_.*)?>")
"""A function written in C++: its name, and the object it belongs to, with an address."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame with what it cost in all, in the unit of the stacks, and the frames that stand on it."""

    name: str
    total: float
    above: tuple["Frame", ...]

    @property
    def own(self) -> float:
        """What it cost itself: its width that no frame stands on."""
        return self.total - sum(each.total for each in self.above)


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame in its place: how many frames are below it, and how much lies to its left."""

    frame: Frame
    depth: int
    start: float


def read_stacks(text: str) -> list[tuple[tuple[str, ...], float]]:
    """Return the stacks that `export_stacks` has written, a line each: frames, a space, whole microseconds.

    The outermost frame comes first. Where an object lies in memory is left out of its name: the same function of two
    objects is one. Blanks are as they were before the profiler replaced them, where that can be told.
    """
    found = []
    for line in text.splitlines():
        frames, _, cost = line.rpartition(" ")
        if frames:
            found.append((tuple(_plain(frame) for frame in frames.split(";")), float(cost)))
    return found


def fold_up(stacks: Iterable[tuple[Sequence[str], float]], name: str = ALL) -> Frame:
    """Return the tree of some stacks, each with its cost; the outermost frame of a stack comes first."""
    total, groups = 0.0, dict[str, list[tuple[Sequence[str], float]]]()
    for frames, cost in stacks:
        total += cost
        if frames:
            groups.setdefault(frames[0], []).append((frames[1:], cost))
    return Frame(name, total, tuple(fold_up(groups[each], each) for each in sorted(groups)))


def without(stacks: Iterable[tuple[Sequence[str], float]], pattern: str) -> list[tuple[tuple[str, ...], float]]:
    """Return the stacks without the frames in whose names `pattern` is found; their time stays where it was."""
    left_out = re.compile(pattern)
    return [(tuple(frame for frame in frames if not left_out.search(frame)), cost) for frames, cost in stacks]


def placed(frame: Frame, depth: int = 0, start: float = 0.0) -> Iterator[Placed]:
    """Give a frame and all above it their places: from left to right its own cost, then the frames on it."""
    yield Placed(frame, depth, start)
    start += frame.own
    for each in frame.above:
        yield from placed(each, depth + 1, start)
        start += each.total


def widest(frame: Frame) -> Mapping[str, float]:
    """Return what the frames of each name cost themselves, most first."""
    own = dict[str, float]()
    for each in placed(frame):
        own[each.frame.name] = own.get(each.frame.name, 0.0) + each.frame.own
    return dict(sorted(own.items(), key=lambda item: -item[1]))


def label(name: str, most: int) -> str:
    """Return as much of a frame's name as fits `most` characters: the function's before the file's."""
    if len(name) <= most:
        return name
    bare = name.rpartition(": ")[2]
    return bare if len(bare) <= most else f"{bare[: most - 1]}…" if most >= 4 else ""


def flame_graph(root: Frame, width: int = 90) -> str:
    """Return a flame graph as text, `width` characters wide, what was called first at the bottom.

    Raises `ValueError` for a tree that cost nothing.
    """
    if root.total <= 0:
        raise ValueError("A flame graph needs stacks that cost something.")
    rows: list[list[str]] = []
    for each in placed(root):
        while len(rows) <= each.depth:
            rows.append([" "] * width)
        low, high = (round(x / root.total * width) for x in (each.start, each.start + each.frame.total))
        if high > low:
            rows[each.depth][low:high] = "▏" + label(each.frame.name, high - low - 2).ljust(high - low - 1)
    return "\n".join("".join(row).rstrip() for row in reversed(rows) if set(row) != {" "})


def _plain(frame: str) -> str:
    name = _BUILTIN.sub(r"<\1>", frame)
    return re.sub(r"(?<=\)):_|(?<=Module):_", ": ", name)

"""Combine call stacks into a tree, and draw the tree as a flame graph in text.

Each stack has a cost. Stacks that begin with the same frames share these frames. The width of a frame is the cost of
all stacks that contain it. Frames with the same caller are sorted by name, not by time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ALL: Final = "all"
"""The name of the frame at the bottom of a flame graph. This frame contains all stacks."""

# A frame of a C++ function: its name, and the object that it belongs to, with the object's address.
_BUILTIN: Final = re.compile(r"<(?:built-in_)?(?:method|function)_(.+?)(?:_of_.*)?>")


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a flame graph: its name, its total cost, and the frames above it, which it called."""

    name: str
    total: float
    above: tuple["Frame", ...]

    @property
    def own(self) -> float:
        """The cost of the frame itself, without the cost of the frames above it."""
        return self.total - sum(each.total for each in self.above)


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame with its position in a flame graph.

    `below` has the names of the frames below it, the outermost first. `start` is the total cost to the left of it.
    """

    frame: Frame
    below: tuple[str, ...]
    start: float

    @property
    def depth(self) -> int:
        """The number of frames below this frame."""
        return len(self.below)


def read_stacks(text: str) -> list[tuple[tuple[str, ...], float]]:
    """Return each stack in a text that torch's `export_stacks` wrote, with its cost in microseconds.

    The outermost frame comes first. Addresses of objects are removed from names, so that calls on different objects
    share a frame. The profiler replaces spaces in names by other characters. The spaces are restored if possible.
    """
    found = []
    for line in text.splitlines():
        frames, _, cost = line.rpartition(" ")
        if frames:
            found.append((tuple(_plain(frame) for frame in frames.split(";")), float(cost)))
    return found


def fold_up(stacks: Iterable[tuple[Sequence[str], float]], name: str = ALL) -> Frame:
    """Return the tree of these stacks with the costs added up. In each stack, the outermost frame comes first."""
    total, groups = 0.0, dict[str, list[tuple[Sequence[str], float]]]()
    for frames, cost in stacks:
        total += cost
        if frames:
            groups.setdefault(frames[0], []).append((frames[1:], cost))
    return Frame(name, total, tuple(fold_up(groups[each], each) for each in sorted(groups)))


def without_frames(stacks: Iterable[tuple[Sequence[str], float]], pattern: str) -> list[tuple[tuple[str, ...], float]]:
    """Remove the frames whose name matches `pattern` from all stacks. Their cost is added to the frame below."""
    left_out = re.compile(pattern)
    return [(tuple(frame for frame in frames if not left_out.search(frame)), cost) for frames, cost in stacks]


def placed(frame: Frame, below: tuple[str, ...] = (), start: float = 0.0) -> Iterator[Placed]:
    """Yield `frame` and all frames above it, with their positions. A frame's own cost is at the left of its box."""
    yield Placed(frame, below, start)
    start += frame.own
    for each in frame.above:
        yield from placed(each, (*below, frame.name), start)
        start += each.total


def drawable(root: Frame) -> list[Placed]:
    """Return `root` and all frames above it, with their positions. Raise `ValueError` if the total cost is 0."""
    if root.total <= 0:
        raise ValueError("A flame graph needs stacks with a cost above 0.")
    return list(placed(root))


def own_cost_by_name(frame: Frame) -> Mapping[str, float]:
    """Return the own cost for each frame name, added up over all frames with this name.

    The largest cost comes first.
    """
    own = dict[str, float]()
    for each in placed(frame):
        own[each.frame.name] = own.get(each.frame.name, 0.0) + each.frame.own
    return dict(sorted(own.items(), key=lambda item: -item[1]))


def label(name: str, most: int) -> str:
    """Return a frame's name in at most `most` characters. If the name is too long, its file name is left out first."""
    if len(name) <= most:
        return name
    bare = name.rpartition(": ")[2]
    return bare if len(bare) <= most else f"{bare[: most - 1]}…" if most >= 4 else ""


def flame_graph(root: Frame, width: int = 90) -> str:
    """Return a flame graph as text with lines of `width` characters. The outermost frame is at the bottom.

    Raise `ValueError` if the total cost is 0.
    """
    rows: list[list[str]] = []
    for each in drawable(root):
        while len(rows) <= each.depth:
            rows.append([" "] * width)
        low, high = (round(x / root.total * width) for x in (each.start, each.start + each.frame.total))
        if high > low:
            rows[each.depth][low:high] = "▏" + label(each.frame.name, high - low - 2).ljust(high - low - 1)
    return "\n".join("".join(row).rstrip() for row in reversed(rows) if set(row) != {" "})


def _plain(frame: str) -> str:
    name = _BUILTIN.sub(r"<\1>", frame)
    return re.sub(r"(?<=\)):_|(?<=Module):_", ": ", name)

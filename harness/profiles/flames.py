"""Combine call stacks into a tree, and draw it as a flame graph: as text or SVG, or as the difference of two runs."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Final

from harness.charts import svg
from harness.rendering import units
from harness.rendering.texts import shown

Stacks = Iterable[tuple[Sequence[str], float]]
"""Call stacks, the outermost frame first, each with its cost."""

ALL: Final = "all"
"""The name of the frame at the bottom of a flame graph. This frame contains all stacks."""

# A frame of a C++ function: its name, and the object that it belongs to, with the object's address.
_BUILTIN: Final = re.compile(r"<(?:built-in_)?(?:method|function)_(.+?)(?:_of_.*)?>")

_WIDTH, _ROW, _SIDE, _TOP = 1000, 19, 8, 52
_CHARACTER: Final = 6.7
_COST: Final = re.compile(r"\d+(\.\d+)?")

_THIN: Final = 2.0  # a box of this width has no edge, because an edge would cover the whole box
# The shares of the whole cost from which a difference has a colour, and has the strongest colour.
LITTLE, MOST = 0.02, 0.2
_LEGEND: Final = {-1.0: "costs less in the second run", 0.0: "hardly differs", 1.0: "costs more in the second run"}
_MOST_LEVELS: Final = 5000
_NARROWEST: Final = 0.4  # the smallest width of a box, so that every frame is visible

KINDS: Final = (
    ("module", "a module of the network", r"^nn\.Module: "),
    ("native", "C++, called from Python", r"^<"),
    ("torch", "PyTorch's own Python", r"^torch/|[/\\]torch[/\\]"),
    ("own", "everything else: your code", r""),
)
"""The kinds of frames in a flame graph: CSS class, text of the legend, pattern. The first pattern that matches the
frame's name is used."""

# On any background, boxes have light colours and dark letters, with a contrast of at least 9:1.
_STYLE: Final = """\
.ground { fill: #c6cad1 } .module { fill: #9dc6f0 } .native { fill: #f6b37f } .torch { fill: #d8d3c8 }
.own { fill: #a5dba0 }
.boxes { stroke: #ffffff; stroke-width: 0.6 } .boxes text { fill: #161616; stroke: none; pointer-events: none }
.boxes g:hover rect { stroke: #161616 }
@media (prefers-color-scheme: dark) { .boxes { stroke: #14171c } .boxes g:hover rect { stroke: #ffffff } }
"""


@dataclass(frozen=True, slots=True)
class FlameFrame:
    """A frame of a flame graph: its name, its total cost, and the frames above it, which it called."""

    name: str
    total: float
    above: tuple["FlameFrame", ...]

    @property
    def own(self) -> float:
        """The cost of the frame itself, without the cost of the frames above it."""
        return self.total - sum(each.total for each in self.above)


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame with its position in a flame graph.

    `below` has the names of the frames below it, the outermost first. `start` is the total cost to the left of it.
    """

    frame: FlameFrame
    below: tuple[str, ...]
    start: float


def read_stacks(text: str) -> list[tuple[tuple[str, ...], float]]:
    """Return each stack in a text that torch's `export_stacks` wrote, with its cost in microseconds.

    The outermost frame comes first. Addresses of objects are removed from names, so that calls on different objects
    share a frame. The profiler replaces spaces in names by other characters. The spaces are restored if possible.
    """
    found = []
    for line in text.splitlines():
        frames, _, cost = line.rpartition(" ")
        if frames and not _COST.fullmatch(cost):
            raise ValueError(f"The line {shown(line, lines=False)!r} does not end with the cost of its stack.")
        if frames:
            names = re.sub(r"(?<=\)):_|(?<=Module):_", ": ", frames).split(";")
            found.append((tuple(_BUILTIN.sub(r"<\1>", name) for name in names), float(cost)))
    return found


def fold_up(stacks: Stacks, name: str = ALL) -> FlameFrame:
    """Return the tree of these stacks with the costs added up. In each stack, the outermost frame comes first.

    Frames with the same caller are sorted by name, not by time. Raise `ValueError` if a cost is negative or not finite.
    """
    names, totals, above = [name], [0.0], [list[int]()]
    for frames, cost in stacks:
        at = 0
        totals[at] += _checked(cost)
        for frame in frames:
            # a linear search, because the exercise `fold` asks for a faster one
            below, at = at, next((each for each in above[at] if names[each] == frame), len(names))
            if at == len(names):
                names.append(frame)
                totals.append(0.0)
                above.append([])
                above[below].append(at)
            totals[at] += cost
    tree = dict[int, FlameFrame]()
    for at in reversed(range(len(names))):  # a frame has a larger number than its caller
        in_order = sorted(above[at], key=names.__getitem__)
        tree[at] = FlameFrame(names[at], totals[at], tuple(tree[each] for each in in_order))
    return tree[0]


def _checked(cost: float) -> float:
    if not 0 <= cost < math.inf:
        raise ValueError(f"The cost of a stack must be finite and not negative, but it is {cost:g}.")
    return cost


def without_frames(stacks: Stacks, pattern: str) -> list[tuple[tuple[str, ...], float]]:
    """Remove the frames whose name matches `pattern` from all stacks. Their cost is added to the frame below."""
    left_out = re.compile(pattern)
    return [(tuple(frame for frame in frames if not left_out.search(frame)), cost) for frames, cost in stacks]


def placed(frame: FlameFrame, below: tuple[str, ...] = (), start: float = 0.0) -> Iterator[Placed]:
    """Yield `frame` and all frames above it, with their positions. A frame's own cost is at the left of its box.

    Raise `ValueError` if the stacks are too deep for a picture.
    """
    waiting = [Placed(frame, below, start)]
    while waiting:
        each = waiting.pop()
        if len(each.below) > _MOST_LEVELS:
            raise ValueError(f"A flame graph shows at most {_MOST_LEVELS} levels; shorten the stacks.")
        yield each
        names = (*each.below, each.frame.name)
        starts = accumulate((inner.total for inner in each.frame.above), initial=each.start + each.frame.own)
        waiting += [Placed(*pair) for pair in zip(each.frame.above, repeat(names), starts)][::-1]


def drawable(root: FlameFrame) -> list[Placed]:
    """Return the positions as `placed` does. Raise `ValueError` if the total cost is 0 or infinite."""
    if not 0 < root.total < math.inf:
        raise ValueError("A flame graph needs stacks with a cost above 0 and a finite sum.")
    return list(placed(root))


def own_cost_by_name(frame: FlameFrame) -> Mapping[str, float]:
    """Return the own cost by frame name, added up over all frames with this name. The largest cost comes first."""
    own = dict[str, float]()
    for each in placed(frame):
        own[each.frame.name] = own.get(each.frame.name, 0.0) + each.frame.own
    return dict(sorted(own.items(), key=lambda item: -item[1]))


def label(name: str, most: int) -> str:
    """Return a frame's name in at most `most` characters. If the name is too long, its file name is left out first."""
    name = shown(name, lines=False)
    if len(name) <= most:
        return name
    bare = name.rpartition(": ")[2]
    return bare if len(bare) <= most else f"{bare[: most - 1]}…" if most >= 4 else ""


def flame_graph(root: FlameFrame, width: int = 90) -> str:
    """Return a flame graph as text, the outermost frame at the bottom. Raise `ValueError` if the total cost is 0."""
    rows: list[list[str]] = []
    for each in drawable(root):
        depth = len(each.below)
        while len(rows) <= depth:
            rows.append([" "] * width)
        low, high = (round(x / root.total * width) for x in (each.start, each.start + each.frame.total))
        if high > low:
            rows[depth][low:high] = "▏" + label(each.frame.name, high - low - 2).ljust(high - low - 1)
    return "\n".join("".join(row).rstrip() for row in reversed(rows) if set(row) != {" "})


def flame_graph_svg(root: FlameFrame, *, title: str, description: str = "", unit: units.Format = units.number) -> str:
    """Return a flame graph as a complete SVG document. `unit` converts the cost of a frame to text.

    A screen reader reads `title`, `description`, and the frames with the largest own cost. Raise `ValueError` if the
    total cost is 0.
    """
    places = drawable(root)
    kinds = {_kind(each) for each in places}
    legend = [({"class_": name}, words) for name, words, _ in KINDS if name in kinds]

    def look(each: Placed) -> tuple[svg.Attributes, str]:
        part = units.percent(each.frame.total / root.total)
        words = f"{each.frame.name}: {unit(each.frame.total)}, {part}; of its own {unit(max(each.frame.own, 0.0))}"
        return {"class_": _kind(each)}, words

    most = [f"{name} {units.percent(own / root.total)}" for name, own in list(own_cost_by_name(root).items())[:5]]
    facts = f"{units.some(len(places), 'frame')}, {unit(root.total)} in all. Largest own cost: {'; '.join(most)}."
    return picture(places, look, legend, title=title, description=f"{description} {facts}")


def picture(
    places: Sequence[Placed],
    look: Callable[[Placed], tuple[svg.Attributes, str]],
    legend: Iterable[tuple[svg.Attributes, str]],
    *,
    title: str,
    description: str,
) -> str:
    """Return a flame graph as an SVG document. `places` are its frames, the frame at the bottom first.

    `look` returns the attributes of a frame's box, such as its colour, and the text that the mouse pointer shows.
    `legend` has the attributes of each colour, and what the colour means.
    """
    deepest = max(len(each.below) for each in places)
    whole, wide = places[0].frame.total, _WIDTH - 2 * _SIDE
    boxes = []
    for each in places:
        attributes, words = look(each)
        x, width = _SIDE + each.start / whole * wide, max(each.frame.total / whole * wide, _NARROWEST)
        y = _TOP + (deepest - len(each.below)) * _ROW
        edge = {"stroke": "none"} if width <= _THIN else {}
        box = svg.rect(x, y, width, _ROW - 1, **attributes, **edge)
        shown = label(each.frame.name, int((width - 6) / _CHARACTER))
        name = svg.text(x + 3, y + 13, shown) if shown else ""
        boxes.append(svg.group([svg.element("title", svg.escaped(words)), box, name]))
    colours, x = list[str](), _SIDE
    for attributes, words in legend:
        colours += [svg.rect(x, 31, 11, 11, **attributes), svg.text(x + 16, 41, words)]
        x += 40 + 6 * len(words)
    shapes = [
        svg.text(_SIDE, 20, title, font_size=14),
        svg.group(colours, font_size=11),
        svg.group(boxes, class_="boxes", font_family="monospace", font_size=11),
    ]
    height = _TOP + _ROW * (deepest + 1) + _SIDE
    return svg.document(_WIDTH, height, shapes, title=title, description=description, style=_STYLE)


def _kind(each: Placed) -> str:
    if not each.below:
        return "ground"
    return next(name for name, _, pattern in KINDS if re.search(pattern, each.frame.name))


def scaled(stacks: Stacks, total: float) -> list[tuple[tuple[str, ...], float]]:
    """Return the stacks with costs that add up to `total`, or [] if all costs are 0."""
    known = [(tuple(frames), _checked(cost)) for frames, cost in stacks]
    whole = sum(cost for _, cost in known)
    return [(frames, cost / whole * total) for frames, cost in known] if whole else []


def by_function(stacks: Stacks) -> dict[str, float]:
    """Return the cost of all stacks that contain each function. A stack counts once, also for a recursive function."""
    costs = dict[str, float]()
    for frames, cost in stacks:
        for name in set(frames):
            costs[name] = costs.get(name, 0.0) + cost
    return costs


def difference_svg(
    before: Stacks, after: Stacks, *, title: str, widths: str = "after", unit: units.Format = units.number
) -> str:
    """Return a differential flame graph as a complete SVG document.

    `widths` is "before" or "after": the run whose costs are the widths of the boxes. A stack without samples in this
    run has no box. The colour shows the difference. `unit` converts a cost to text.
    Raise `ValueError` if the chosen run has no cost.
    """
    first, second = fold_up(before), fold_up(after)
    places = drawable({"before": first, "after": second}[widths])
    costs = [{(*each.below, each.frame.name): each.frame.total for each in placed(root)} for root in (first, second)]
    whole = max(first.total, second.total)

    def look(each: Placed) -> tuple[svg.Attributes, str]:
        one, other = (run.get((*each.below, each.frame.name), 0.0) for run in costs)
        return {"fill": colour((other - one) / whole)}, f"{each.frame.name}: {unit(one)} before, {unit(other)} after"

    legend = [({"fill": colour(share)}, words) for share, words in _LEGEND.items()]
    facts = f"{unit(first.total)} before, {unit(second.total)} after. {_largest(first, second, unit)}"
    return picture(places, look, legend, title=title, description=facts)


def colour(share: float) -> str:
    """Return the colour of a difference: red above 0, blue below 0, grey near 0. `share` is a part of the whole."""
    if abs(share) < LITTLE:
        return "#e3e1dc"
    strength = min(abs(share) / MOST, 1.0)
    faded = round(225 - 105 * strength)
    return f"#f5{faded:02x}{faded:02x}" if share > 0 else f"#{faded:02x}{round(220 - 40 * strength):02x}f5"


def _largest(first: FlameFrame, second: FlameFrame, unit: units.Format) -> str:
    own = [own_cost_by_name(root) for root in (first, second)]
    pairs = {name: (own[0].get(name, 0.0), own[1].get(name, 0.0)) for name in (*own[0], *own[1])}
    most = sorted(pairs.items(), key=lambda item: -abs(item[1][1] - item[1][0]))[:4]
    words = [f"{name} {unit(one)} before and {unit(other)} after" for name, (one, other) in most]
    return f"Largest differences of own cost: {'; '.join(words)}."

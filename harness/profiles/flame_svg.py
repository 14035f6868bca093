"""Draw a flame graph as an SVG picture in one file, for light and dark backgrounds.

Each box has an SVG title with the name and cost of its frame. A browser shows this title when the mouse is on the box,
and a screen reader reads it.
"""

import re
from typing import Final

from harness.profiles.flames import Frame, Placed, label, own_cost_by_name, placed
from harness.rendering import svg, units

_WIDTH, _ROW, _SIDE, _TOP = 1000, 19, 8, 52
_CHARACTER: Final = 6.7

# A box that is at most this wide has no edge, because an edge would cover the whole box.
_THIN: Final = 2.0

# The smallest width of a box, so that every frame is visible.
_NARROWEST: Final = 0.4

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
.boxes rect { stroke: #ffffff; stroke-width: 0.6 } .boxes text { fill: #161616; pointer-events: none }
.boxes g:hover rect { stroke: #161616 } .boxes .thin { stroke: none }
@media (prefers-color-scheme: dark) { .boxes rect { stroke: #14171c } .boxes g:hover rect { stroke: #ffffff } }
"""


def flame_graph_svg(root: Frame, *, title: str, description: str = "", unit: units.Format = units.number) -> str:
    """Return a flame graph as a complete SVG document. `unit` converts the cost of a frame to text.

    A screen reader reads `title`, `description`, and the frames with the largest own cost. Raise `ValueError` if the
    total cost is 0.
    """
    if root.total <= 0:
        raise ValueError("A flame graph needs stacks with a cost above 0.")
    places = list(placed(root))
    deepest = max(each.depth for each in places)
    most = [f"{name} {units.percent(own / root.total)}" for name, own in list(own_cost_by_name(root).items())[:5]]
    facts = f"{units.some(len(places), 'frame')}, {unit(root.total)} in all. Largest own cost: {'; '.join(most)}."
    boxes = (_box(each, root, deepest, unit) for each in places)
    shapes = [
        svg.readable(_SIDE, 20, title),
        svg.group(_legend(places), font_family="sans-serif", font_size=11),
        svg.group(boxes, class_="boxes", font_family="monospace", font_size=11),
    ]
    height = _TOP + _ROW * (deepest + 1) + _SIDE
    return svg.document(_WIDTH, height, shapes, title=title, description=f"{description} {facts}", style=_STYLE)


def _legend(places: list[Placed]) -> list[str]:
    there, shapes, x = {_kind(each) for each in places}, list[str](), _SIDE
    for name, words, _ in KINDS:
        if name in there:
            shapes += [svg.rect(x, 31, 11, 11, class_=name), svg.text(x + 16, 41, words, class_="words")]
            x += 40 + 6 * len(words)
    return shapes


def _box(each: Placed, root: Frame, deepest: int, unit: units.Format) -> str:
    scale = (_WIDTH - 2 * _SIDE) / root.total
    x, width = _SIDE + each.start * scale, max(each.frame.total * scale, _NARROWEST)
    y = _TOP + (deepest - each.depth) * _ROW
    part = units.percent(each.frame.total / root.total)
    words = f"{each.frame.name}: {unit(each.frame.total)}, {part}; of its own {unit(max(each.frame.own, 0.0))}"
    shown = label(each.frame.name, int((width - 6) / _CHARACTER))
    kind = _kind(each) if width > _THIN else f"{_kind(each)} thin"
    text = svg.text(x + 3, y + 13, shown) if shown else ""
    return svg.group([svg.element("title", svg.escaped(words)), svg.rect(x, y, width, _ROW - 1, class_=kind), text])


def _kind(each: Placed) -> str:
    if not each.depth:
        return "ground"
    return next(name for name, _, pattern in KINDS if re.search(pattern, each.frame.name))

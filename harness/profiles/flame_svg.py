"""Draw a flame graph as an SVG picture in one file, for light and dark backgrounds.

Each box has an SVG title with the name and cost of its frame. A browser shows this title when the mouse is on the box,
and a screen reader reads it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from harness.charts import svg
from harness.profiles.flames import Frame, Placed, drawable, label, own_cost_by_name
from harness.rendering import units

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
.boxes { stroke: #ffffff; stroke-width: 0.6 } .boxes text { fill: #161616; stroke: none; pointer-events: none }
.boxes g:hover rect { stroke: #161616 }
@media (prefers-color-scheme: dark) { .boxes { stroke: #14171c } .boxes g:hover rect { stroke: #ffffff } }
"""


def flame_graph_svg(root: Frame, *, title: str, description: str = "", unit: units.Format = units.number) -> str:
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
    deepest = max(each.depth for each in places)
    scale = (_WIDTH - 2 * _SIDE) / places[0].frame.total
    boxes = []
    for each in places:
        attributes, words = look(each)
        x, width = _SIDE + each.start * scale, max(each.frame.total * scale, _NARROWEST)
        y = _TOP + (deepest - each.depth) * _ROW
        edge = {"stroke": "none"} if width <= _THIN else {}
        box = svg.rect(x, y, width, _ROW - 1, **attributes, **edge)
        shown = label(each.frame.name, int((width - 6) / _CHARACTER))
        name = svg.text(x + 3, y + 13, shown) if shown else ""
        boxes.append(svg.group([svg.element("title", svg.escaped(words)), box, name]))
    shapes = [
        svg.text(_SIDE, 20, title, font_size=14),
        svg.group(_legend(legend), font_size=11),
        svg.group(boxes, class_="boxes", font_family="monospace", font_size=11),
    ]
    height = _TOP + _ROW * (deepest + 1) + _SIDE
    return svg.document(_WIDTH, height, shapes, title=title, description=description, style=_STYLE)


def _legend(legend: Iterable[tuple[svg.Attributes, str]]) -> Iterator[str]:
    x = _SIDE
    for attributes, words in legend:
        yield svg.rect(x, 31, 11, 11, **attributes)
        yield svg.text(x + 16, 41, words)
        x += 40 + 6 * len(words)


def _kind(each: Placed) -> str:
    if not each.depth:
        return "ground"
    return next(name for name, _, pattern in KINDS if re.search(pattern, each.frame.name))

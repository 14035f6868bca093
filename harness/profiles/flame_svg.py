"""A flame graph as an SVG: one file that loads nothing, reads well on light and on dark, and says what it shows.

Each box has its name and cost as a title, which a browser shows under the mouse and a screen reader says.
"""

import re
from collections.abc import Callable
from typing import Final

from harness import units
from harness.markup import escaped
from harness.profiles.flames import Frame, Placed, label, placed, widest

_WIDTH, _ROW, _SIDE, _TOP = 1000, 19, 8, 52
_CHARACTER: Final = 6.7
"""Width of a character of the boxes' font, in the picture's units, with a little room."""

_THIN: Final = 2.0
"""A box up to so wide has no edge, which would cover it."""

_NARROWEST: Final = 0.4
"""A box that would be narrower is drawn so wide: a trace of everything that is there."""

KINDS: Final = (
    ("module", "a module of the network", r"^nn\.Module: "),
    ("native", "C++, called from Python", r"^<"),
    ("torch", "PyTorch's own Python", r"^torch/|[/\\]torch[/\\]"),
    ("own", "everything else: your code", r""),
)
"""Kinds of frames: class of the box, words of the legend, and a pattern; the first that is found in the name counts."""

_STYLE: Final = """<style>
svg:root { background: #ffffff }
.paper { fill: #ffffff } .words { fill: #222222 }
.ground { fill: #c6cad1 } .module { fill: #9dc6f0 } .native { fill: #f6b37f } .torch { fill: #d8d3c8 }
.own { fill: #a5dba0 }
.boxes rect { stroke: #ffffff; stroke-width: 0.6 } .boxes text { fill: #161616; pointer-events: none }
.boxes g:hover rect { stroke: #161616 } .boxes .thin { stroke: none }
@media (prefers-color-scheme: dark) {
 svg:root { background: #14171c }
 .paper { fill: #14171c } .words { fill: #e8e8e8 } .boxes rect { stroke: #14171c }
 .boxes g:hover rect { stroke: #ffffff }
}
</style>"""
"""Boxes keep their light colours and dark letters on any ground; each pair has a contrast of at least 9:1."""


def flame_graph_svg(
    root: Frame, *, title: str, description: str = "", unit: Callable[[float], str] = units.number
) -> str:
    """Return a complete SVG document; `unit` writes what frames cost.

    `title` and `description` are what a screen reader says; the frames that cost most themselves are added to the
    latter. Raises `ValueError` for a tree that cost nothing.
    """
    if root.total <= 0:
        raise ValueError("A flame graph needs stacks that cost something.")
    places = list(placed(root))
    deepest = max(each.depth for each in places)
    height = _TOP + _ROW * (deepest + 1) + _SIDE
    most = [f"{name} {units.percent(own / root.total)}" for name, own in list(widest(root).items())[:5]]
    said = f"{units.some(len(places), 'frame')}, {unit(root.total)} in all. Most of its own has: {'; '.join(most)}."
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escaped(title)}</title>",
        f"<desc>{escaped(f'{description} {said}'.strip())}</desc>",
        _STYLE,
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        f'<text class="words" x="{_SIDE}" y="20" font-family="sans-serif" font-size="14">{escaped(title)}</text>',
        *_legend(places),
        '<g class="boxes" font-family="monospace" font-size="11">',
        *(_box(each, root, deepest, unit) for each in places),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend(places: list[Placed]) -> list[str]:
    there = {_kind(each) for each in places}
    lines, x = ['<g font-family="sans-serif" font-size="11">'], float(_SIDE)
    for name, words, _ in KINDS:
        if name in there:
            lines.append(f'<rect class="{name}" x="{x:.0f}" y="31" width="11" height="11"/>')
            lines.append(f'<text class="words" x="{x + 16:.0f}" y="41">{words}</text>')
            x += 40 + 6 * len(words)
    return [*lines, "</g>"]


def _box(each: Placed, root: Frame, deepest: int, unit: Callable[[float], str]) -> str:
    scale = (_WIDTH - 2 * _SIDE) / root.total
    x, width = _SIDE + each.start * scale, max(each.frame.total * scale, _NARROWEST)
    y = _TOP + (deepest - each.depth) * _ROW
    part = units.percent(each.frame.total / root.total)
    words = f"{each.frame.name}: {unit(each.frame.total)}, {part}; of its own {unit(max(each.frame.own, 0.0))}"
    shown = label(each.frame.name, int((width - 6) / _CHARACTER))
    text = f'<text x="{x + 3:.1f}" y="{y + 13}">{escaped(shown)}</text>' if shown else ""
    kind = _kind(each) if width > _THIN else f"{_kind(each)} thin"
    rect = f'<rect class="{kind}" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_ROW - 1}"/>'
    return f"<g><title>{escaped(words)}</title>{rect}{text}</g>"


def _kind(each: Placed) -> str:
    if not each.depth:
        return "ground"
    return next(name for name, _, pattern in KINDS if re.search(pattern, each.frame.name))

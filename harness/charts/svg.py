"""Draw SVG pictures as text: documents with a title and a description for screen readers, and shapes.

Attributes are keyword arguments, with `_` instead of `-` and without a last `_`: `font_size=12`, `class_="bar"`.
"""

import html
from collections.abc import Iterable, Mapping
from typing import Final

from harness.rendering.texts import shown

# Each colour has a contrast of at least 4.5:1 with its background.
_LIGHT: Final = ("#1f5f99", "#b3261e", "#2d6a1f", "#6a3d9a", "#7a4b00", "#00606b", "#8c1d5a", "#444444")
_DARK: Final = ("#7db8f5", "#f0a184", "#74d19c", "#c4a6ee", "#edbb62", "#6fd0da", "#f0a1c4", "#b8c0cc")


def _rules(paper: str, words: str, axis: str, colours: Iterable[str]) -> str:
    series = " ".join(f".s{at} {{ color: {colour} }}" for at, colour in enumerate(colours))
    return (
        f"svg:root {{ background: {paper} }} .paper {{ fill: {paper} }} .words {{ fill: {words} }}\n"
        f".axis {{ stroke: {axis} }} .end {{ stroke: {words} }} {series}"
    )


STYLE: Final = f"""\
path {{ fill: none }} .bar {{ color: {_LIGHT[0]} }} .mark {{ color: {_LIGHT[1]} }} .bar, .s {{ fill: currentColor }}
text.mark {{ fill: currentColor }} path.mark, .curve {{ stroke: currentColor }} path.mark {{ stroke-dasharray: 4 3 }}
{_rules("#ffffff", "#222222", "#8a929c", _LIGHT)}
@media (prefers-color-scheme:dark) {{ .bar {{ color: {_DARK[0]} }} .mark {{ color: {_DARK[1]} }}
{_rules("#14171c", "#e8e8e8", "#6b7480", _DARK)} }}
"""
"""CSS rules of every document, in light and dark. `paper` is the background, `words` text on it, `s0` a series."""

Value = str | float
Attributes = Mapping[str, str]
"""The attributes of a shape, as keyword arguments of the functions below."""


def escaped(text: str) -> str:
    """Return `text` escaped for XML. Characters that XML forbids even when escaped are shown as escapes of Python."""
    return html.escape(shown(text))


def element(name: str, content: str = "", /, **attributes: Value) -> str:
    """Return an XML element. `content` must already be XML. Numbers get at most two decimals."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_written(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def document(
    width: float, height: float, shapes: Iterable[str], *, title: str, description: str = "", style: str = ""
) -> str:
    """Return a complete SVG document with these shapes on a background. `style` has more CSS rules."""
    size = f'viewBox="0 0 {_written(width)} {_written(height)}" font-family="sans-serif" font-size="12"'
    rules, ground = element("style", f"\n{STYLE}{style}"), rect(0, 0, width, height, class_="paper")
    words = title_and_description(title, description)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>'
    return "\n".join([start, words, rules, ground, *shapes, "</svg>", ""])


def title_and_description(title: str, description: str) -> str:
    """Return the SVG elements `title` and `desc`, which a screen reader reads."""
    return f"{element('title', escaped(title))}\n{element('desc', escaped(description.strip()))}"


def group(shapes: Iterable[str], **attributes: Value) -> str:
    """Return an SVG group of shapes. The attributes apply to all shapes in the group."""
    return element("g", "\n".join(shapes), **attributes)


def rect(x: float, y: float, width: float, height: float, tip: str = "", **attributes: Value) -> str:
    """Return a rectangle. (x, y) is its upper left corner. The mouse pointer on it shows the text `tip`."""
    title = element("title", escaped(tip)) if tip else ""
    return element("rect", title, x=x, y=y, width=width, height=height, **attributes)


def text(x: float, y: float, words: str, *, class_: str = "words", **attributes: Value) -> str:
    """Return one line of text. (x, y) is the left end of its baseline, unless `text_anchor` changes this."""
    return element("text", escaped(words), x=x, y=y, class_=class_, **attributes)


def line(*points: tuple[float, float], class_: str = "axis", **attributes: Value) -> str:
    """Return a line through these points, such as an axis."""
    path = "L".join(f"{_written(x)} {_written(y)}" for x, y in points)
    return element("path", d=f"M{path}", class_=class_, **attributes)


def _written(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")

"""Draw SVG pictures: documents with a title and a description for screen readers, and shapes.

Every function returns SVG as text. Attributes are keyword arguments, with `_` instead of `-`, such as `font_size=12`. A
`_` at the end is removed, as in `class_="thin"`.
"""

import html
from collections.abc import Iterable, Mapping
from typing import Final

# These colours have a contrast of at least 4.5:1 with white.
INK: Final = "#222222"
AXIS: Final = "#444444"
BLUE: Final = "#3b6ea5"
RED: Final = "#b3261e"

LIGHT_AND_DARK: Final = """\
svg:root { background: #ffffff } .paper { fill: #ffffff } .words { fill: #222222 }
@media (prefers-color-scheme:dark) { svg:root { background: #14171c } .paper { fill: #14171c } .words { fill: #e8e8e8 }}
"""
"""CSS rules for a light and a dark browser. The class `paper` is the background, and `words` is text on it."""

Value = str | float

Attributes = Mapping[str, Value]
"""The attributes of a shape, as keyword arguments of the functions below."""


def escaped(text: str) -> str:
    """Return `text` escaped for XML. Control characters are removed, because XML forbids them even when escaped."""
    return html.escape("".join(character for character in text if character.isprintable() or character == "\n"))


def element(name: str, content: str = "", /, **attributes: Value) -> str:
    """Return an XML element. `content` must already be XML. Numbers get at most two decimals."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_written(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def document(
    width: int, height: int, shapes: Iterable[str], *, title: str, description: str = "", style: str = ""
) -> str:
    """Return a complete SVG document with these shapes on a white background.

    If `style` has CSS rules, they set the colours of background and shapes.
    """
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    ground = rect(0, 0, width, height, class_="paper") if style else rect(0, 0, width, height, fill="#ffffff")
    rules = [element("style", f"\n{LIGHT_AND_DARK}{style}")] if style else []
    return "\n".join([start, title_and_description(title, description), *rules, ground, *shapes, "</svg>", ""])


def title_and_description(title: str, description: str) -> str:
    """Return the SVG elements `title` and `desc`, which a screen reader reads."""
    return f"{element('title', escaped(title))}\n{element('desc', escaped(description.strip()))}"


def group(shapes: Iterable[str], **attributes: Value) -> str:
    """Return an SVG group of shapes. The attributes apply to all shapes in the group."""
    return element("g", "\n".join(shapes), **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: Value) -> str:
    """Return a rectangle. (x, y) is its upper left corner."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def text(x: float, y: float, words: str, **attributes: Value) -> str:
    """Return an SVG element for one line of text.

    (x, y) is the left end of the text's baseline, unless `text_anchor` changes this.
    """
    return element("text", escaped(words), x=x, y=y, **attributes)


def line(*points: tuple[float, float], stroke: str = AXIS, **attributes: Value) -> str:
    """Return a line through these points, such as an axis."""
    path = "L".join(f"{_written(x)} {_written(y)}" for x, y in points)
    return element("path", d=f"M{path}", fill="none", stroke=stroke, **attributes)


def label(x: float, y: float, words: str, fill: str = INK, size: int = 12, **attributes: Value) -> str:
    """Return a line of text in the picture's font, such as a title, a legend, or a number at an axis."""
    return text(x, y, words, fill=fill, font_family="sans-serif", font_size=size, **attributes)


def readable(x: float, y: float, words: str, size: int = 14, **attributes: str) -> str:
    """Return a line of text like `label`, with a colour that fits the background in a light and in a dark browser."""
    return label(x, y, words, size=size, class_="words", **attributes)


def _written(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")

"""The markup of the texts in a lesson: `code` between backticks and *emphasis* between asterisks."""

import re
from collections.abc import Iterator
from typing import Final

from rich.text import Text

_MARKUP: Final = re.compile(r"`(?P<code>[^`]+)`|(?<![\w*])\*(?=\S)(?P<emphasis>[^*`]+)(?<=\S)\*(?![\w*])")
_STYLES: Final = {"": None, "code": "cyan", "emphasis": "italic"}


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield each piece of a text and its kind: "code", "emphasis", or "" for all other pieces."""
    end = 0
    for match in _MARKUP.finditer(text):
        yield text[end : match.start()], ""
        yield match[match.lastgroup or 0], match.lastgroup or ""
        end = match.end()
    yield text[end:], ""


def styled(text: str, style: str = "") -> Text:
    """Return a text for the terminal. Code and emphasis have styles instead of backticks and asterisks.

    `style` applies to the whole text.
    """
    result = Text(style=style)
    for piece, kind in pieces(text):
        result.append(piece, _STYLES[kind])
    return result


def plain(text: str) -> str:
    """Return a text without its backticks and asterisks, for output that has no styles."""
    return styled(text).plain

"""The markup of the texts in a lesson: `code` between backticks and *emphasis* between asterisks."""

import re
from typing import Final

from rich.text import Text

_MARKUP: Final = re.compile(r"`(?P<code>[^`]+)`|(?<![\w*])\*(?=\S)(?P<emphasis>[^*`]+)(?<=\S)\*(?![\w*])")


def styled(text: str, style: str = "") -> Text:
    """Return a text for the terminal. Code and emphasis have styles instead of backticks and asterisks.

    `style` applies to the whole text.
    """
    result, end = Text(style=style), 0
    for match in _MARKUP.finditer(text):
        result.append(text[end : match.start()])
        result.append(match[match.lastgroup or 0], "cyan" if match["code"] else "italic")
        end = match.end()
    return result.append(text[end:])


def plain(text: str) -> str:
    """Return a text without its backticks and asterisks, for output that has no styles."""
    return styled(text).plain

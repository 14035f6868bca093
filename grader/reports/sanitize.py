"""Replace dangerous characters in texts from students before a page or a terminal shows the texts.

Escaping HTML does not help against control characters, which terminals execute as commands and HTML forbids. It does
not help against invisible characters either, which can reverse the text around them or make two names look equal. A
visible sign replaces each of these characters.
"""

from typing import Final

MOST: Final = 300
"""The maximum number of characters of a student's text in a table. The student's page has the whole text."""

_SIGNS: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_SIGNS |= {0x7F: "\N{SYMBOL FOR DELETE}"}
_SIGNS |= dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
_UNSEEN = (
    0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),
)  # fmt: skip
"""Invisible characters: soft hyphen, direction marks and overrides, line separators, word joiners and tags.

The letter joiners U+200C and U+200D are allowed, because Persian names and emoji need them.
"""
_SIGNS |= {code: f"[U+{code:04X}]" for code in (*_UNSEEN, *range(0xD800, 0xE000))}


def sanitize(text: str) -> str:
    """Return the text with a visible sign in place of each control character, invisible character and lone surrogate.

    Tabs and line ends are kept.
    """
    return text.translate(_SIGNS)


def shortened(text: str, most: int = MOST) -> str:
    """Return the text, cut to at most `most` characters. A cut text ends in an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

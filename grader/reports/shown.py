"""Foreign text as a page may show it: nothing in it acts, and nothing in it is lost.

HTML escaping is the templates' matter. What is left are characters that no escaping makes harmless: control characters,
which HTML forbids and a terminal obeys, and marks that are seen by nobody but turn the text around them, or make two
names look like one. Each becomes what is written for it.
"""

from typing import Final

MOST: Final = 300
"""Characters of a foreign text that a table shows; a page of its own shows all of them."""

_SIGNS: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_SIGNS |= {0x7F: "\N{SYMBOL FOR DELETE}"}
_SIGNS |= dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
_UNSEEN = (
    0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),
)  # fmt: skip
"""Soft hyphen, marks and overrides of direction, separators of lines, joiners of words, tags. Joiners of letters
(U+200C and U+200D) are not among them: Persian names and emoji are written with them."""
_SIGNS |= {code: f"[U+{code:04X}]" for code in (*_UNSEEN, *range(0xD800, 0xE000))}


def shown(text: str) -> str:
    """Return text with each control character, unseen mark and lone surrogate as a visible sign; lines stay lines."""
    return text.translate(_SIGNS)


def shortened(text: str, most: int = MOST) -> str:
    """Return text of at most `most` characters, the last of them an ellipsis where some are left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

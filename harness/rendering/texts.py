r"""Show a text that somebody else wrote: a student, a file, an exception, or a program.

Such a text can contain characters that control a terminal, reverse the order of the text around them, make two names
look equal, or are forbidden in XML. Each of them is shown as an escape, as Python writes it, such as `\x1b`.
"""

import re
import unicodedata
from typing import Final

_PLAIN: Final = re.compile("[\t\n -~\xa1-\xac\xae-\u02ff\u0370-\u05ff\u0900-\u10ff\u3040-\u3163\u3165-\ud7ff]*")
_UNUSUAL: Final = re.compile("[^\t\n -~]")
_ESCAPED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories: control, format, surrogate, private use, line separator and paragraph separator."""

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Invisible characters of other categories. Source: the property Default_Ignorable_Code_Point of Unicode."""

_JOINERS: Final = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_VARIATIONS: Final = "".join(map(chr, range(0xFE00, 0xFE10)))
_VIRAMA: Final = 9
"""The combining class of the signs after which a joiner chooses the form of a letter in the scripts of India."""


def shown(text: str, *, lines: bool = True) -> str:
    r"""Return the text with an escape such as `\u202e` for each character that acts on a reader's screen or file.

    Line ends and tabs are kept, or with `lines=False` shown as escapes too. CR LF is one line end. Joiners are kept
    between the letters and emoji that need them, and variation selectors after the characters that they change.
    """
    text = text.replace("\r\n", "\n")
    safe = text if _PLAIN.fullmatch(text) else _UNUSUAL.sub(_escape, text)
    return safe if lines else safe.replace("\t", r"\t").replace("\n", r"\n")


def _escape(found: re.Match[str]) -> str:
    char, kind, code = found[0], unicodedata.category(found[0]), ord(found[0])
    acts = kind in _ESCAPED or char in _INVISIBLE or char in _VARIATIONS
    nothing = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF or 0xE0000 <= code <= 0xE0FFF
    return char.encode("unicode_escape").decode() if (acts or nothing) and not _belongs(found) else char


def _belongs(found: re.Match[str]) -> bool:
    """Return whether a joiner or a variation selector changes the characters beside it, as in Persian or in emoji."""
    char, text, at = found[0], found.string, found.start()
    before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
    kind = unicodedata.category(before)
    if char in _JOINERS:
        letters = unicodedata.bidirectional(before) == "AL" == unicodedata.bidirectional(after)
        signs = (kind[0] == "S" or before in _VARIATIONS) and unicodedata.category(after)[0] == "S"
        return letters or (signs and char == _JOINERS[1]) or unicodedata.combining(before) == _VIRAMA
    if char in _VARIATIONS[-2:]:
        return kind in {"So", "Sm", "Nd", "Po"}
    return kind == "Lo" and (char in _VARIATIONS or "\U000e0100" <= char <= "\U000e01ef")

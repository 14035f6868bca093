"""Split code into tokens that do not change if a person renames, reformats or comments the code.

Regular expressions split the code, instead of `tokenize`: they also read text that is not Python, find the same tokens
in each version of Python, and need a time proportional to the length of the text.
"""

import builtins
import keyword
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

NAME, NUMBER, TEXT = "name", "0", '"'
"""The tokens of all names that a student may choose, of all numbers, and of all texts in quotes."""

_IN_QUOTES: Final = r"{0}(?:[^{0}\\\n]|\\.)*+{0}?"
_IN_TRIPLE_QUOTES: Final = r"{0}{0}{0}[^{0}\\]*+(?:(?:\\.|{0}(?!{0}{0}))[^{0}\\]*+)*+(?:{0}{0}{0})?"


def _lexer(skipped: str, *texts: str) -> re.Pattern[str]:
    quoted = "|".join(form.format(quote) for form in texts for quote in "\"'")
    return re.compile(
        rf"[ \t\f\r]*+(?:(?P<skip>{skipped})|(?P<end>\n|\Z)|(?P<text>(?:[rbuft]{{1,2}}(?=[\"']))?+(?:{quoted}))"
        r"|(?P<number>\.?\d(?:[ep][+-]|[\w.])*+)|(?P<name>[^\W\d]\w*+)"
        r"|(?P<sign>->|\+\+|--|&&|\|\||\.\.\.|(?:\*\*|//|<<|>>|[-+*/%@&|^=<>!:])=?|.))",
        re.DOTALL | re.IGNORECASE,
    )


_PYTHON: Final = _lexer(r"\\\r?\n|#[^\n]*+", _IN_TRIPLE_QUOTES, _IN_QUOTES)
_C: Final = _lexer(r"\\.|//(?:[^\n\\]|\\(?!n))*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", _IN_QUOTES)
_REST_OF_STATEMENT: Final = re.compile(r"[ \t\r]*+(?:[\n#;]|\Z)")
_OWN: Final = re.compile(r"\b(?:def|class)\s++(\w++)|\.\s*+(\w++)\s*+=(?!=)|^[ \t]*+(\w++)\s*+=(?!=)", re.MULTILINE)
_PYTHON_WORDS: Final = frozenset({*keyword.kwlist, "match", "case", "self"})
_BUILTINS: Final = frozenset(dir(builtins))
_WORDS_OF_C: Final = """
auto break case char const continue default define do double else enum extern float for goto if include inline int long
pragma register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
memcpy memset memmove
"""
_C_WORDS: Final = frozenset(_WORDS_OF_C.split())
_NAMES_OF_C: Final = re.compile(r"u?int\w*_t|size_t|ptrdiff_t|_\w+")
_BETWEEN: Final = frozenset({"skip", "end"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_CELL: Final = re.compile(r"# cell (\d{1,9})")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text: a number for each token's text, and the line of each token, counted from 1."""

    codes: npt.NDArray[np.uint64]
    lines: npt.NDArray[np.int64]


def tokens_of(source: str) -> Tokens:
    """Return the tokens of a Python text. Comments, docstrings, line ends and indentation are left out."""
    found = list(_python(source))
    codes = np.array([_code(text) for text, _ in found], dtype=np.uint64)
    return Tokens(codes, np.array([line for _, line in found], dtype=np.int64))


def c_texts(source: str) -> list[str]:
    """Return the C code in a Python text: the contents of its strings that contain a semicolon."""
    return [_inside(one["text"]) for one in _PYTHON.finditer(source) if _has_code(one["text"] or "")]


def line_names(source: str, *, notebook: bool) -> list[str]:
    """Return a name for each line of a text: its number, or in the text of a notebook "3:1" for line 1 of cell 3."""
    names, cell, above = list[str](), "", 0
    for number, line in enumerate(source.split("\n"), start=1):
        if notebook and (begins := _CELL.fullmatch(line)):
            cell, above = f"{begins[1]}:", number
        names.append(f"{cell}{number - above}")
    return names


@cache
def _code(text: str) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"))


def _has_code(text: str) -> bool:
    return ";" in text


def _inside(text: str) -> str:
    """Return the content of a string as it is written, without its prefix and its quotes."""
    return text.lstrip("rRbBuUfFtT").strip("\"'")


def _python(source: str) -> Iterator[tuple[str, int]]:
    own = {name for names in _OWN.findall(source) for name in names}
    line, depth, begins, before, comma = 1, 0, True, "", 0
    for one in _PYTHON.finditer(source):
        kind = one.lastgroup or ""
        text = one[kind]
        if kind in _BETWEEN or text == ";":
            begins |= not depth and kind != "skip"
            line += text.count("\n")
            continue
        if comma and text not in _CLOSING:  # formatters add a comma before the bracket
            yield ",", comma
        comma = 0
        if kind == "name":
            kept = text in _PYTHON_WORDS or (text not in own and (before == "." or text in _BUILTINS))
            yield text if kept else NAME, line
        elif kind == "number":
            yield NUMBER, line
        elif kind == "text":
            if not (begins and _REST_OF_STATEMENT.match(source, one.end())):  # a docstring
                yield TEXT, line
                if _has_code(text):
                    yield from _c(text, line)
            line += text.count("\n")
        elif text == ",":
            comma = line
        else:
            depth += (text in _OPENING) - (text in _CLOSING and depth > 0)
            yield text, line
        begins, before = False, text


def _c(source: str, line: int) -> Iterator[tuple[str, int]]:
    """Yield the tokens of C code in a string of a Python text, which begins in this line of the Python text."""
    for one in _C.finditer(_inside(source)):
        kind = one.lastgroup or ""
        text = one[kind]
        if kind == "name":
            yield text if text in _C_WORDS or _NAMES_OF_C.fullmatch(text) else NAME, line
        elif kind not in _BETWEEN:
            yield {"number": NUMBER, "text": TEXT}.get(kind, text), line
        line += text.count("\n")

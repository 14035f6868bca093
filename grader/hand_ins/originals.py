"""Decide whether a student has changed an exercise.

The code of a file is compared with that of the original, whose SHA-256 is listed in the kit. Code is compared as Python
reads it: without comments, empty lines, white space at the ends of lines, docstrings, magics, shell lines, and the
block under `if __name__ == "__main__"`. An exercise file and its notebook therefore have the same code. Exercises of an
older version of the kit are not known.
"""

import ast
import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from grader import paths
from harness import syntax

LISTING: Final = paths.EXERCISES / "notebooks.json"
"""The file that lists, for each lesson, the SHA-256 of the original exercise file and of its code."""

STUB: Final = "stub_sha256"
CODE: Final = "code_sha256"
_MAIN: Final = "__name__ == '__main__'"
_NO_CODE: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER})
_MOST_CHARACTERS: Final = 200_000
"""The maximum length of a text whose code is compared. Originals are much shorter, and long texts are slow to read."""

_OPENS, _CLOSES = (
    {getattr(tokenize, f"{kind}STRING_{end}") for kind in "FT" if hasattr(tokenize, f"{kind}STRING_{end}")}
    for end in ("START", "END")
)
"""The types of tokens at the start and end of a string such as f"{x}". Python 3.11 reads such a string as one token."""


_MAGICS: Final = frozenset(f"get_ipython().{name}" for name in ("run_line_magic", "system"))
"""The first five tokens of a magic such as `%matplotlib inline`, or of a shell line such as `!pip install torch`."""


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def code_digest(source: str) -> str:
    """Return the SHA-256 of an exercise's code, or of the whole text if it is not valid Python."""
    try:
        return text_digest(_code(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return text_digest(f"not Python\n{source.strip()}")


def row(stub: str) -> dict[str, str]:
    """Return the entry of a lesson in the list of original exercises. `stub` is the text of its exercise file."""
    return {STUB: text_digest(stub), CODE: code_digest(stub)}


def as_bytes(rows: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the entries of all lessons as the bytes of the list of original exercises."""
    return json.dumps(rows, indent=1).encode() + b"\n"


def listed(lesson: str) -> dict[str, str]:
    """Return the entry of a lesson, or empty texts if the list is damaged. The exercise then counts as changed."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(LISTING.read_text(encoding="utf-8"))[lesson]
        return {key: str(found[key]) for key in (STUB, CODE)}
    return {STUB: "", CODE: ""}


def is_original(lesson: str, source: str) -> bool:
    """Return whether the code of a file is that of the exercise in the kit, so that a student has written nothing."""
    return len(source) <= _MOST_CHARACTERS and code_digest(source) == listed(lesson)[CODE]


def _code(source: str) -> str:
    """Return the code of a Python text, one line for each logical line: its depth, and its tokens.

    Raise the parser's exception if the text is not valid Python.
    """
    source = re.sub("\r\n?", "\n", source.removeprefix("\ufeff"))
    skipped = {
        number
        for node in syntax.parse(source).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN and not node.orelse
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    depth, line, lines = 0, list[tuple[int, str]](), list[str]()
    for token in _whole_strings(source):
        if token.type in {tokenize.INDENT, tokenize.DEDENT}:
            depth += 1 if token.type == tokenize.INDENT else -1
        elif token.type == tokenize.NEWLINE:
            words = [text for _, text in line]
            # A line of strings alone is a docstring. IPython writes a magic or a shell line as a call.
            if {kind for kind, _ in line} - {tokenize.STRING} and "".join(words[:5]) not in _MAGICS:
                lines.append("\0".join((str(depth), *words)))
            line = []
        elif token.type not in _NO_CODE and token.start[0] not in skipped:
            # Editors remove white space at the ends of lines, in long strings, too.
            line.append((token.type, "\n".join(map(str.rstrip, token.string.split("\n")))))
    return "\n".join(lines)


def _whole_strings(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a text. A string such as f"{x}" is one token, as in Python 3.11."""
    lines, begun = source.split("\n"), list[tokenize.TokenInfo]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _OPENS:
            begun.append(token)
        elif not begun:
            yield token
        elif token.type in _CLOSES and len(begun) > 1:
            begun.pop()
        elif token.type in _CLOSES:
            (row, column), (last, end) = begun.pop().start, token.end
            text = "\n".join(lines[row - 1 : last])
            text = text[column : len(text) - len(lines[last - 1]) + end]
            yield tokenize.TokenInfo(tokenize.STRING, text, (row, column), token.end, "")

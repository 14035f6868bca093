"""Decide whether a student has changed an exercise.

Its code is compared with that of the original, whose SHA-256 is listed in the kit. The code is the text without
comments, empty lines, the module's docstring and the block under `if __name__ == "__main__"`. An exercise file and its
notebook therefore have the same code.
"""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from grader import paths
from harness import syntax

LISTING: Final = paths.EXERCISES / "notebooks.json"
"""The file that lists, for each lesson, the SHA-256 of the original exercise file and of its code."""

STUB: Final = "stub_sha256"
CODE: Final = "code_sha256"
_MAIN: Final = "__name__ == '__main__'"
_NO_CODE: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.ENDMARKER})


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def code_digest(source: str) -> str:
    """Return the SHA-256 of an exercise's code, or of the whole text if it is not valid Python."""
    try:
        return text_digest(_code(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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


def _code(source: str) -> str:
    """Return the lines of a Python text that are code. Raise the parser's exception if the text is not valid Python."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    tree, kept = syntax.parse(source), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE and token.string.strip():
            kept.update(range(token.start[0], token.end[0] + 1))
    for place, node in enumerate(tree.body):
        docstring = place == 0 and ast.get_docstring(tree, clean=False) is not None
        if docstring or (isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN and not node.orelse):
            kept.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return "\n".join(line.rstrip() for number, line in enumerate(source.split("\n"), start=1) if number in kept)

"""Decide whether a student has changed an exercise.

The code of a file is compared with that of the original, whose SHA-256 is listed in the kit. Code is compared as Python
reads it: without comments, empty lines, white space at the ends of lines, docstrings, magics, shell lines, and the
block under `if __name__ == "__main__"`. An exercise file and its notebook therefore have the same code. Exercises of an
older version of the kit are not known.
"""

import ast
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from grader import paths
from harness import syntax

LISTING: Final = paths.EXERCISES / "notebooks.json"
"""The file that lists, for each lesson, the SHA-256 of the original exercise's code."""

CODE: Final = "code_sha256"
"""The key of this SHA-256 in the metadata of an exercise's notebook."""

_MAIN: Final = "__name__ == '__main__'"
_MOST_CHARACTERS: Final = 200_000
"""The maximum length of a text whose code is compared. Originals are much shorter, and long texts are slow to read."""

_MAGICS: Final = frozenset(f"get_ipython().{name}" for name in ("run_line_magic", "system"))
"""The functions that IPython calls for a magic such as `%matplotlib inline`, or for a shell line such as `!ls`."""


def code_digest(source: str) -> str:
    """Return the SHA-256 of an exercise's code, or of the whole text if it is not valid Python."""
    try:
        text = _code(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = f"not Python\n{source.strip()}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def as_bytes(stubs: Mapping[str, str]) -> bytes:
    """Return the list of original exercises. `stubs` are the texts of the exercise files by lesson."""
    return json.dumps({lesson: code_digest(stub) for lesson, stub in stubs.items()}, indent=1).encode() + b"\n"


def listed(lesson: str) -> str:
    """Return the SHA-256 of a lesson's code, or "" if the list is damaged. The exercise then counts as changed."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(LISTING.read_text(encoding="utf-8"))[lesson])
    return ""


def is_original(lesson: str, source: str) -> bool:
    """Return whether the code of a file is that of the exercise in the kit, so that a student has written nothing."""
    return len(source) <= _MOST_CHARACTERS and code_digest(source) == listed(lesson)


def _code(source: str) -> str:
    """Return the syntax tree of a Python text as text, which is the same in all versions of Python.

    Raise the parser's exception if the text is not valid Python.
    """
    # Editors remove white space at the ends of lines, in long strings, too.
    lines = map(str.rstrip, re.sub("\r\n?", "\n", source.removeprefix("\ufeff")).split("\n"))
    return repr(_plain([node for node in syntax.parse("\n".join(lines)).body if not is_main(node)]))


def is_main(node: ast.stmt) -> bool:
    """Return whether a statement is the block under `if __name__ == "__main__"`, which grading does not run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN and not node.orelse


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(one) for one in value if not _is_no_code(one)]
    if isinstance(value, ast.JoinedStr):  # an f-string, to which Python 3.12.1 may add an empty text
        return [_plain(one) for one in value.values if getattr(one, "value", None) != ""]
    if not isinstance(value, ast.AST):
        return value
    return type(value).__name__, [(name, _plain(one)) for name, one in ast.iter_fields(value) if one not in (None, [])]


def _is_no_code(node: object) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) in _MAGICS
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

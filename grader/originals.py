"""Which exercise is still as the kit wrote it: the SHA-256 of each stub, and of its code, kept in a committed list.

A student has changed an exercise when its *code* differs from the stub's. The code is the text without comments, empty
lines, the module's docstring and what runs under `if __name__ == "__main__"`. So an exercise file and its notebook have
the same code, and a notebook that was only run or saved again has the code of the stub.
"""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from grader import catalogue

LISTING: Final = catalogue.EXERCISES / "notebooks.json"
"""Of every lesson, as it was when the stubs were last written: SHA-256 of the stub, its code and its notebook."""

STUB: Final = "stub_sha256"
CODE: Final = "code_sha256"
_MAIN: Final = "__name__ == '__main__'"
_NO_TEXT: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.ENDMARKER})


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def code_digest(source: str) -> str:
    """Return the SHA-256 of an exercise's code; for what is not Python, of all its text."""
    try:
        return text_digest(_code(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text_digest(f"not Python\n{source.strip()}")


def as_bytes(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Return the list of all lessons as its file holds it."""
    return json.dumps(rows, indent=1).encode() + b"\n"


def listed_row(lesson: str) -> dict[str, object]:
    """Return all that the list says of a lesson; nothing where the list is damaged or that of an older kit."""
    try:
        rows = json.loads(LISTING.read_text(encoding="utf-8"))
        return next((dict(row) for row in rows if row["lesson"] == lesson), {})
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def listed(lesson: str, key: str) -> str:
    """Return what the list says of a lesson under `key`, or "": then the exercise counts as changed."""
    return str(listed_row(lesson).get(key, ""))


def is_original(lesson: str, source: str) -> bool:
    """Return whether an exercise's source has the code of its stub."""
    return code_digest(source) == listed(lesson, CODE)


def _code(source: str) -> str:
    """Return the lines of Python source that count. Raises what Python's parser and tokenizer raise."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")
    left_out = {number for first, last in _left_out(ast.parse(source)) for number in range(first, last + 1)}
    kept = (lines[number - 1].rstrip() for number in sorted(_with_text(source) - left_out) if number <= len(lines))
    return "\n".join(kept)


def _left_out(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of the docstring and of each `if __name__ == "__main__"` at the top of a module."""
    for place, node in enumerate(tree.body):
        docstring = place == 0 and ast.get_docstring(tree, clean=False) is not None
        if docstring or (isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN and not node.orelse):
            yield node.lineno, node.end_lineno or node.lineno


def _with_text(source: str) -> set[int]:
    """Return the numbers of the lines that hold more than a comment. Lines within a text count."""
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_TEXT and token.string.strip():
            numbers.update(range(token.start[0], token.end[0] + 1))
    return numbers

"""Remove loops from C source texts, to check that a slow baseline without one of its loops is not a fast solution."""

import re
from collections.abc import Iterator
from typing import Final

_LOOP: Final = re.compile(r"\b(for|while)\s*\(")


def without_loops(source: str) -> Iterator[tuple[int, str]]:
    """Yield two changed texts for each `for` and `while` loop of a C source text, each with the line of the loop.

    The first text lacks the loop. The second text runs the loop's body once. Some of the texts do not compile.
    """
    for loop in _LOOP.finditer(source):
        head = _end_of_group(source, loop.end() - 1)
        end = _end_of_statement(source, head)
        first = source[loop.end() : head - 1].partition(";")[0] if loop[1] == "for" else ""
        line = source.count("\n", 0, loop.start()) + 1
        for body in (";", f"{{ {first}; {source[head:end]} }}"):
            yield line, source[: loop.start()] + body + source[end:]


def _end_of_group(source: str, at: int) -> int:
    """Return the position after the bracket that closes the one at `at`, or the end of the text."""
    depth = 0
    for place in range(at, len(source)):
        depth += (source[place] in "({") - (source[place] in ")}")
        if not depth:
            return place + 1
    return len(source)


def _end_of_statement(source: str, at: int) -> int:
    """Return the position after the statement that begins at or after `at`."""
    at += len(source[at:]) - len(source[at:].lstrip())
    if source.startswith("{", at):
        return _end_of_group(source, at)
    if inner := re.compile(r"(for|while|if)\s*\(").match(source, at):
        return _end_of_statement(source, _end_of_group(source, inner.end() - 1))
    return source.find(";", at) + 1 or len(source)

"""Mutants of a source text: copies with one small change each, such as `<` for `<=` or a dropped statement.

Pure: a source text in, source texts out. A function and the names of the module that it uses are changed; imports,
docstrings, annotations, decorators and the text of errors are not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.mutation import caching
from grader.mutation.reachable import defined_at, reachable
from grader.mutation.tree import Edit, edits, is_valid, parsed, written

__all__ = ["Mutant", "mutants"]

SHOWN_BEFORE = 40
"""Characters that a long line shows before and after the first change."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed source text: the file and line of the change, the statement before and after it, the whole text."""

    file: str
    line: int
    was: str
    now: str
    source: str


def mutants(source: str, function: str, file: str = "") -> Iterator[Mutant]:
    """Yield each mutant of a function once, none where the source lacks it; what is no Python is left out.

    Raises `SyntaxError` where the source is no Python.
    """
    tree = parsed(source)
    used, seen = reachable(tree, function), {written(tree)}
    for statement in used:
        for edit in edits(tree, statement):
            yield from _once(_mutant(edit, file), seen)
    line = defined_at(tree, function)
    for words, text in caching.cached(written(tree), function) if line else ():
        yield from _once(Mutant(file, line, f"{function}(…)", words, text), seen)


def _mutant(edit: Edit, file: str) -> Mutant:
    with edit.applied() as text:
        was, now = _around_change(edit.was, edit.now)
        return Mutant(file, edit.line, was, now, text)


def _once(mutant: Mutant, seen: set[str]) -> Iterator[Mutant]:
    if mutant.source not in seen and is_valid(mutant.source):
        seen.add(mutant.source)
        yield mutant


def _around_change(was: str, now: str) -> tuple[str, str]:
    """Cut two long texts down to the part in which they differ, with a few characters around it."""
    same = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    first = max(0, same - SHOWN_BEFORE)
    return _cut(was, first, same), _cut(now, first, same)


def _cut(text: str, first: int, same: int) -> str:
    last = same + SHOWN_BEFORE
    return f"{'…' * (first > 0)}{text[first:last]}{'…' * (last < len(text))}"

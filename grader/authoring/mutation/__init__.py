"""Make mutants of a source text: copies with one small change each, such as `<` for `<=` or a removed statement.

Only one function and the definitions that it uses are changed. Imports, docstrings, annotations, decorators and the
texts of errors are not changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.authoring.mutation import caching
from grader.authoring.mutation.reachable import defined_at, reachable
from grader.authoring.mutation.tree import Edit, edits, is_valid, written
from harness import syntax

__all__ = ["Mutant", "mutants"]

SHOWN_BEFORE = 40
"""The number of characters of a long line that are shown before and after the change."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source text with one small change.

    `file` and `line` say where the change is. `was` and `now` are the changed statement before and after the change.
    `source` is the whole changed text.
    """

    file: str
    line: int
    was: str
    now: str
    source: str


def mutants(source: str, function: str, file: str = "") -> Iterator[Mutant]:
    """Yield each changed copy (mutant) of a function in `source`. Yield nothing if the function is missing.

    Copies that do not compile are left out. Raise `SyntaxError` if `source` is not Python.
    """
    tree = syntax.parse(source)
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
    same = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    first = max(0, same - SHOWN_BEFORE)
    return _cut(was, first, same), _cut(now, first, same)


def _cut(text: str, first: int, same: int) -> str:
    last = same + SHOWN_BEFORE
    return f"{'…' * (first > 0)}{text[first:last]}{'…' * (last < len(text))}"

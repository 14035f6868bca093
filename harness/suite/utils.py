"""Helpers for files of definitions: flatten nested names, and read Python and C++ code in two columns."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from harness.errors import UsageError
from harness.suite.api import GroupedBenchmark, TimerArgs
from harness.suite.types import Definition, FlatIntermediateDefinition, Label

COLUMN: Final = 40  # the width of the Python column; the text " | " separates it from the C++ column

_HEAD: Final = re.compile(r"Python\s{35}\| C\+\+\s*")
_RULE: Final = re.compile(rf"-{{{COLUMN}}} \| -+\s*")
_LINE: Final = re.compile(rf"(?P<python>.{{{COLUMN}}}) \|(?: (?P<cpp>.*))?")


def flatten(schema: Definition) -> FlatIntermediateDefinition:
    """Return all benchmarks of nested dictionaries by complete name. Raise `UsageError` if two names are equal."""
    flat: dict[Label, TimerArgs | GroupedBenchmark] = {}
    for label, benchmark in _leaves((), schema):
        if label in flat:
            raise UsageError(f"Two benchmarks have the name {' · '.join(label)}; rename one of them.")
        flat[label] = benchmark
    return flat


def _leaves(prefix: Label, schema: object) -> Iterator[tuple[Label, TimerArgs | GroupedBenchmark]]:
    if isinstance(schema, TimerArgs | GroupedBenchmark):
        yield prefix, schema
    elif isinstance(schema, dict):
        for name, inner in schema.items():
            suffix = () if name is None else name if isinstance(name, tuple) else (name,)
            if not all(isinstance(part, str) for part in suffix):
                raise UsageError(f"A benchmark's name must be a text, a tuple of texts, or None; not {name!r}.")
            yield from _leaves((*prefix, *suffix), inner)
    else:
        where = " · ".join(prefix) or "the definitions"
        raise UsageError(f"At {where} there is a {type(schema).__name__}; write a benchmark or a dict of benchmarks.")


def parse_stmts(stmts: str) -> tuple[str, str]:
    """Return the Python code and the C++ code of a text with two columns, as in `harness.suite.standard`.

    The Python column is 40 characters wide, and " | " follows it. Raise `UsageError` for any other text.
    """
    sides = list(iter_parsed_lines(stmts))
    return "\n".join(python for python, _ in sides), "\n".join(cpp for _, cpp in sides)


def iter_parsed_lines(stmts: str) -> Iterator[tuple[str, str]]:
    """Yield the Python part and the C++ part of each line of a text with two columns, without trailing spaces."""
    lines = textwrap.dedent(stmts).strip().splitlines()
    if len(lines) < 3 or not _HEAD.fullmatch(lines[0]) or not _RULE.fullmatch(lines[1]):
        raise UsageError(
            "Code in two columns begins with a line `Python … | C++`, the bar in column 42, and a line of 40 dashes, "
            f"` | ` and more dashes; this text begins with {lines[:2]}."
        )
    for line in lines[2:]:
        found = _LINE.fullmatch(line.ljust(COLUMN + 2) if "|" in line else line)
        if found is None:
            raise UsageError(f"This line has no ` | ` after its first {COLUMN} characters: {line}")
        yield found["python"].rstrip(), (found["cpp"] or "").rstrip()

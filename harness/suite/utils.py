"""Helpers for files of definitions: names flattened, Python and C++ written side by side."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from harness.errors import UsageError
from harness.suite.api import GroupedBenchmark, TimerArgs
from harness.suite.types import Definition, FlatIntermediateDefinition, Label

COLUMN: Final = 40
"""How wide the column for Python is; what separates it from C++ is " | "."""

_HEAD: Final = re.compile(r"Python\s{35}\| C\+\+\s*")
_RULE: Final = re.compile(rf"-{{{COLUMN}}} \| -+\s*")
_LINE: Final = re.compile(rf"(?P<python>.{{{COLUMN}}}) \|(?: (?P<cpp>.*))?")


def flatten(schema: Definition) -> FlatIntermediateDefinition:
    """Put nested names together: each benchmark under its whole name. Raises `UsageError` where two have the same."""
    flat: dict[Label, TimerArgs | GroupedBenchmark] = {}
    for label, benchmark in _leaves((), schema):
        if label in flat:
            raise UsageError(f"Two benchmarks are called {' · '.join(label)}; rename one of them.")
        flat[label] = benchmark
    return flat


def _leaves(prefix: Label, schema: object) -> Iterator[tuple[Label, TimerArgs | GroupedBenchmark]]:
    if isinstance(schema, TimerArgs | GroupedBenchmark):
        yield prefix, schema
    elif isinstance(schema, dict):
        for name, inner in schema.items():
            suffix = () if name is None else name if isinstance(name, tuple) else (name,)
            if not all(isinstance(part, str) for part in suffix):
                raise UsageError(f"A benchmark's name is text, several texts in a tuple, or None; not {name!r}.")
            yield from _leaves((*prefix, *suffix), inner)
    else:
        where = " · ".join(prefix) or "the definitions"
        raise UsageError(f"At {where} stands a {type(schema).__name__}; it has to be a benchmark or a dict of them.")


def parse_stmts(stmts: str) -> tuple[str, str]:
    """Read Python and C++ that stand side by side, and return both.

        Python                                   | C++
        ---------------------------------------- | ----------------------------------------
        z = torch.mm(x, y)                       | auto z = torch::mm(x, y);

    The Python column is 40 characters wide, and " | " follows it. Raises `UsageError` for anything else.
    """
    sides = list(iter_parsed_lines(stmts))
    return "\n".join(python for python, _ in sides), "\n".join(cpp for _, cpp in sides)


def iter_parsed_lines(stmts: str) -> Iterator[tuple[str, str]]:
    """Read the same line by line: pairs of a Python and a C++ text, without the spaces behind them."""
    lines = textwrap.dedent(stmts).strip().splitlines()
    if len(lines) < 3 or not _HEAD.fullmatch(lines[0]) or not _RULE.fullmatch(lines[1]):
        raise UsageError(
            "Side-by-side code begins with a line `Python … | C++`, the bar in column 42, and a line of 40 dashes, "
            f"` | ` and more dashes; here it begins with {lines[:2]}."
        )
    for line in lines[2:]:
        found = _LINE.fullmatch(line.ljust(COLUMN + 2) if "|" in line else line)
        if found is None:
            raise UsageError(f"This line has no ` | ` behind its first {COLUMN} characters: {line}")
        yield found["python"].rstrip(), (found["cpp"] or "").rstrip()

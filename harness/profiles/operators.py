"""Read the results of `torch.profiler`: one row per operator, or per operator and shape, or per operator and stack."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of `key_averages()`. Times are CPU time in seconds, over all calls.

    `own_s` is the operator's own time. `total_s` includes the time of operators that it called. `own_bytes` is the
    memory that the operator itself allocated, minus the memory that it freed (0 unless the profile has
    `profile_memory`). `flops` is PyTorch's estimate of floating-point operations for products and convolutions, over
    all calls. `shapes` are the shapes of the operator's inputs, or "" if rows are not grouped by shape. `stack` has the
    Python frames of the call, the innermost first.
    """

    name: str
    calls: int
    own_s: float
    total_s: float
    own_bytes: int = 0
    flops: int = 0
    shapes: str = ""
    stack: tuple[str, ...] = ()


def operators(averages: Iterable[Any]) -> tuple[Operator, ...]:
    """Return the rows of `key_averages(…)`, sorted by own time with the largest first."""
    found = [
        Operator(
            name=each.key,
            calls=each.count,
            own_s=each.self_cpu_time_total / 1e6,
            total_s=each.cpu_time_total / 1e6,
            own_bytes=each.self_cpu_memory_usage,
            flops=each.flops,
            shapes="×".join(map(str, filter(None, each.input_shapes or ()))),
            stack=tuple(each.stack or ()),
        )
        for each in averages
    ]
    return tuple(sorted(found, key=lambda each: (-each.own_s, each.name)))


def columns(printed: str, *names: str) -> str:
    """Return only the named columns of a table that PyTorch printed. All columns are too wide for a terminal.

    Lines outside the table are left out. Of a stack, only the first line is kept. Raise `ValueError` if a column is
    missing.
    """
    lines = printed.splitlines()
    rule = next(line for line in lines if line.startswith("---"))
    ends = [match.span() for match in re.finditer("-+", rule)]
    rows = [[line[low:high].strip() for low, high in ends] for line in lines if _is_row(line, rule)]
    places = [rows[0].index(name) for name in names]
    kept = [[row[place] for place in places] for row in rows if row[0]]
    widths = [max(len(row[column]) for row in kept) for column in range(len(names))]
    return "\n".join(_aligned(row, widths) for row in kept)


def _is_row(line: str, rule: str) -> bool:
    return bool(line.strip()) and len(line) >= len(rule.rstrip()) and set(line) - set("- =") != set()


def _aligned(row: list[str], widths: list[int]) -> str:
    others = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *others]).rstrip()

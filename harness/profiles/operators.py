"""What `torch.profiler` has found, as plain rows: one for each operator, or for each operator and shape or stack."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of `key_averages()`. Times are CPU time in seconds, over all calls.

    `own_s` is what it took itself, `total_s` what it and everything that it called took. `own_bytes` is what it
    allocated less what it freed, itself (0 unless the profile was made with `profile_memory`). `flops` are estimated by
    PyTorch for products and convolutions, all calls together. `shapes` are those of its tensors, "" where the rows are
    not grouped by them; `stack` the Python frames it was called from, the innermost first.
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
    """Return the rows of `key_averages(…)`, most own time first."""
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
    """Return a table that PyTorch has printed with these columns alone: all of them fit no terminal.

    Lines without columns are left out, as are those that go on with a stack. Raises `ValueError` for a column that it
    does not have.
    """
    lines = printed.splitlines()
    rule = next(line for line in lines if line.startswith("---"))
    ends, at = list[tuple[int, int]](), 0
    for dashes in rule.split("  "):
        ends.append((at, at + len(dashes)))
        at += len(dashes) + 2
    rows = [[line[low:high].strip() for low, high in ends] for line in lines if _is_row(line, rule)]
    places = [rows[0].index(name) for name in names]
    kept = [[row[place] for place in places] for row in rows if row[0]]
    widths = [max(len(row[column]) for row in kept) for column in range(len(names))]
    return "\n".join(_aligned(row, widths) for row in kept)


def _is_row(line: str, rule: str) -> bool:
    return bool(line.strip()) and len(line) >= len(rule.rstrip()) and set(line) - set("- =") != set()


def _aligned(row: list[str], widths: list[int]) -> str:
    """One line: the first column to the left, the others to the right."""
    others = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *others]).rstrip()

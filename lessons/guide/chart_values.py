"""The values of a chart: numbers that are read from recorded texts, such as "8.30 µs"."""

import re
from dataclasses import dataclass
from typing import Final

TIME, SIZE, PERCENT, RATIO, NUMBER = "time", "size", "percent", "ratio", "number"

UNITS: Final = {
    "ps": (TIME, 1e-12),
    "ns": (TIME, 1e-9),
    "µs": (TIME, 1e-6),
    "ms": (TIME, 1e-3),
    "s": (TIME, 1.0),
    "B": (SIZE, 1.0),
    "KiB": (SIZE, 1024.0),
    "MiB": (SIZE, 1024.0**2),
    "GiB": (SIZE, 1024.0**3),
    "%": (PERCENT, 0.01),
    "×": (RATIO, 1.0),
}
"""The kind of each unit, and its size in the base unit of the kind."""

_NUMBER: Final = r"[+-]?\d+(?: \d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_VALUE: Final = re.compile(rf"({_NUMBER}) ?({'|'.join(UNITS)})?")


@dataclass(frozen=True, slots=True)
class ChartValue:
    """A number that was read from a text, in the base unit of its kind, such as seconds for `TIME`."""

    value: float
    kind: str


def read(text: str) -> ChartValue | None:
    """Return the value that the whole text is, such as "8.30 µs", or None if the text is something else."""
    match = _VALUE.fullmatch(text.strip())
    if match is None:
        return None
    kind, scale = UNITS[match[2]] if match[2] else (NUMBER, 1.0)
    return ChartValue(float(match[1].replace(" ", "")) * scale, kind)

"""The recorded accesses of real programs, which `record.py` wrote."""

import json
from functools import cache
from pathlib import Path
from typing import Final

ACCESSES: Final = Path(__file__).parent / "accesses.json"

Event = tuple[str, str, str]
"""A thread, an action, and the name of a variable, a lock or a thread."""

Race = tuple[str, str, str]
"""A variable, and two threads that access it in a race."""


@cache
def load() -> dict[str, tuple[tuple[Event, ...], tuple[Race, ...]]]:
    """Return the events and the races of each recorded program, by the program's name."""
    programs = json.loads(ACCESSES.read_text(encoding="utf-8"))["programs"]
    return {
        name: (tuple(_three(row) for row in found["events"]), tuple(_three(row) for row in found["races"]))
        for name, found in programs.items()
    }


def _three(row: list[str]) -> tuple[str, str, str]:
    first, second, third = row
    return first, second, third

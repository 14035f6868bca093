"""The recorded profiles of `program.c`. `record.py` made them with Callgrind, one row per function."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
COUNTS: Final = FOLDER / "counts.json"

CULPRITS: Final[Mapping[int, str]] = {
    1: "hash_word",
    2: "find_word",
    3: "sort_words",
    4: "next_word",
    5: "grow_table",
    6: "check_sum",
    7: "is_letter",
}
"""The function that is slower in each version of the program. Version 0 is the original program."""

OWN: Final = (
    *("next_random", "make_text", "is_letter", "to_lower", "next_word", "hash_word", "same_word", "find_word"),
    *("grow_table", "add_word", "comes_before", "sort_words", "check_sum", "show_rows", "count_words"),
)
"""The names of the program's own functions, which each scenario replaces. `main` stays `main`."""

Count = dict[str, tuple[int, int, int]]
"""A profile. For each function: its calls, its own instructions, and its inclusive instructions."""


@cache
def load() -> dict[int, tuple[Count, ...]]:
    """Return the profiles of each version of the program, one profile per input."""
    kept = json.loads(COUNTS.read_text(encoding="utf-8"))["counts"]
    return {
        int(version): tuple({name: (row[0], row[1], row[2]) for name, row in count.items()} for count in counts)
        for version, counts in kept.items()
    }


def added(counts: list[tuple[Count, int]]) -> Count:
    """Return the sum of several profiles, each multiplied by a factor. The arguments are pairs (profile, factor)."""
    total: dict[str, tuple[int, int, int]] = {}
    for count, times in counts:
        for name, row in count.items():
            before = total.get(name, (0, 0, 0))
            total[name] = (before[0] + times * row[0], before[1] + times * row[1], before[2] + times * row[2])
    return total

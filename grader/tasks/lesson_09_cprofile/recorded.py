"""The recorded call trees of programs of the standard library, which `record.py` wrote."""

import json
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
TREES: Final = FOLDER / "trees.json"

Node = tuple[int, str, int, int]
"""A call tree's node: depth (0: root), function name, number of calls by its caller, and own time in µs."""


@cache
def load() -> dict[str, tuple[Node, ...]]:
    """Return the call tree of each recorded program. Nodes are in the order of the calls, a caller first."""
    kept = json.loads(TREES.read_text(encoding="utf-8"))["trees"]
    return {
        program: tuple((int(depth), str(name), int(calls), int(own_us)) for depth, name, calls, own_us in nodes)
        for program, nodes in kept.items()
    }

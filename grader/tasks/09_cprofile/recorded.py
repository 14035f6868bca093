"""The recorded call trees: what real programs of the standard library did, as `record.py` has written it."""

import json
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
TREES: Final = FOLDER / "trees.json"

Node = tuple[int, str, int, int]
"""How deep it lies (the root at 0), the function's name, how often it was called from there, and its own µs."""


@cache
def load() -> dict[str, tuple[Node, ...]]:
    """By program, its call tree: every node stands below its caller and before whatever that called later."""
    kept = json.loads(TREES.read_text(encoding="utf-8"))["trees"]
    return {
        program: tuple((int(depth), str(name), int(calls), int(own_us)) for depth, name, calls, own_us in nodes)
        for program, nodes in kept.items()
    }

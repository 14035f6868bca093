"""The recorded training step: its events and stacks. `record.py` recorded them with torch.profiler."""

import json
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
STEP: Final = FOLDER / "step.json"

Node = tuple[int, str, int]
"""An event of a trace: its depth, its name, and its own time in nanoseconds."""


@cache
def events() -> tuple[Node, ...]:
    """Return the events of one training step in the order of their beginnings, an outer event before inner events."""
    kept = json.loads(STEP.read_text(encoding="utf-8"))["events"]
    return tuple((int(depth), str(name), int(own_ns)) for depth, name, own_ns in kept)


@cache
def stacks() -> tuple[tuple[str, ...], ...]:
    """Return the different Python stacks of one training step, each with the outermost frame first."""
    kept = json.loads(STEP.read_text(encoding="utf-8"))["stacks"]
    return tuple(tuple(str(frame) for frame in frames) for frames in kept)

"""The recorded step of training: what torch.profiler saw of it, as `record.py` has written it."""

import json
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
STEP: Final = FOLDER / "step.json"

Node = tuple[int, str, int]
"""How many events an event lies within, its name, and its own time in nanoseconds."""


@cache
def events() -> tuple[Node, ...]:
    """The events of one step, each after the one that it lies within and before whatever began later."""
    kept = json.loads(STEP.read_text(encoding="utf-8"))["events"]
    return tuple((int(depth), str(name), int(own_ns)) for depth, name, own_ns in kept)


@cache
def stacks() -> tuple[tuple[str, ...], ...]:
    """The different Python stacks of one step, the outermost frame first."""
    kept = json.loads(STEP.read_text(encoding="utf-8"))["stacks"]
    return tuple(tuple(str(frame) for frame in frames) for frames in kept)

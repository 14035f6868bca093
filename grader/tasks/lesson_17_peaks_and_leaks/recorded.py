"""The recorded allocations of programs of the standard library, which `record.py` wrote."""

import json
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
EVENTS: Final = FOLDER / "events.json"

Event = tuple[str, int, int, str]
"""An event: "alloc" or "free", the number of the address, the bytes, and the function. A free has 0 and "" there."""


@cache
def load() -> dict[str, tuple[Event, ...]]:
    """Return the events of each recorded program, in order of time."""
    kept = json.loads(EVENTS.read_text(encoding="utf-8"))["events"]
    return {
        program: tuple((str(kind), int(address), int(n_bytes), str(name)) for kind, address, n_bytes, name in events)
        for program, events in kept.items()
    }

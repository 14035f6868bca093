"""The recorded messages of torch about recompilations, which `record.py` wrote."""

import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

LOGS: Final = Path(__file__).parent / "logs.json"

FUNCTION: Final = "recorded_step"
FILE: Final = "/app/recorded.py"
"""The name of the recorded function and its file, which scenarios replace."""


class Block(NamedTuple):
    """A message about a recompilation.

    `change` is its known cause. Each line begins with `prefix`, the time and place that torch's log adds. `head` are
    the first lines, and `reasons` the lines about each earlier graph, without the prefix.
    """

    change: str
    prefix: str
    head: list[str]
    reasons: list[list[str]]


class Recorded(NamedTuple):
    """The messages about recompilations, and the lines of other messages."""

    blocks: list[Block]
    others: list[str]


@cache
def load() -> Recorded:
    """Return the recorded messages."""
    kept = json.loads(LOGS.read_text(encoding="utf-8"))
    return Recorded([Block(**each) for each in kept["blocks"]], list(kept["others"]))

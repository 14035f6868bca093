"""The recorded profiles of three programs, which `record.py` wrote."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

PROFILES: Final = Path(__file__).parent / "profiles.json"


class Frame(NamedTuple):
    """A frame of a recorded stack: a function's name, its file, and the line that ran, or 0 for an unknown line."""

    name: str
    file: str
    line: int


class Stack(NamedTuple):
    """A recorded stack, the outermost frame first, and its number of samples."""

    frames: tuple[Frame, ...]
    samples: int


_FRAME: Final = re.compile(r"(.+) \((.+?)(?::(\d+))?\)")


@cache
def profile(name: str) -> tuple[Stack, ...]:
    """Return the stacks of a recorded program: "before" and "after" a change of a training loop, or "recursive"."""
    lines = json.loads(PROFILES.read_text(encoding="utf-8"))["profiles"][name]
    return tuple(_stack(line) for line in lines)


def _stack(line: str) -> Stack:
    text, _, samples = line.rpartition(" ")
    matches = (_FRAME.fullmatch(frame) for frame in text.split(";"))
    return Stack(tuple(Frame(m[1], m[2], int(m[3] or 0)) for m in matches if m), int(samples))

"""The recorded profiles of three programs, which `record.py` wrote.

The file holds frames, not the lines of py-spy. So the student kit has no code that reads such lines, which is the
student's work in the task `changes`.
"""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from grader.tasks import recordings

PROFILES: Final = Path(__file__).parent / "profiles.json"

WORDS: Final = (
    *("batch", "cast", "draw", "embed", "fetch", "gate", "input"),
    *("join", "keep", "loss", "mean", "norm", "pack"),
)
"""Words for the random names of functions."""


class SampledFrame(NamedTuple):
    """A frame of a recorded stack: a function's name, its file, and the line that ran, or 0 for an unknown line."""

    name: str
    file: str
    line: int


class Stack(NamedTuple):
    """A recorded stack, the outermost frame first, and its number of samples."""

    frames: tuple[SampledFrame, ...]
    samples: int


@cache
def profile(name: str) -> tuple[Stack, ...]:
    """Return the stacks of a recorded program: "before" and "after" a change of a training loop, or "recursive"."""
    kept = recordings.read(PROFILES)[name]
    return tuple(Stack(tuple(SampledFrame(*each) for each in frames), samples) for frames, samples in kept)

"""The names that lessons import from the engine. `lessons/README.md` explains how to write a lesson."""

from lessons.engine.figures import Drawing, Figures, Lacking, Rows, Samples
from lessons.engine.interval import ClaimStanding, Interval, largest, smallest
from lessons.engine.lesson import Run
from lessons.engine.loading import load

__all__ = [
    "ClaimStanding",
    "Drawing",
    "Figures",
    "Interval",
    "Lacking",
    "Rows",
    "Run",
    "Samples",
    "largest",
    "load",
    "smallest",
]

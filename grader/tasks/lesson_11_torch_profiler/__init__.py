"""Exercises of lesson 11: compute own times from the events of a trace, and the boxes of a flame graph."""

from .fold import FOLD
from .self_times import SELF_TIMES

TASKS = (SELF_TIMES, FOLD)

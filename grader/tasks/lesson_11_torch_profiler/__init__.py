"""Exercises of lesson 11: compute a profiler's own times and a flame graph, and find an expensive call."""

from .fold import FOLD
from .self_times import SELF_TIMES
from .without_echo import WITHOUT_ECHO

TASKS = (SELF_TIMES, FOLD, WITHOUT_ECHO)

"""Exercises of lesson 02: measure one call with a simple clock, and repair five broken benchmarks."""

from .repair import REPAIR
from .time_per_call import TIME_PER_CALL

TASKS = (TIME_PER_CALL, REPAIR)

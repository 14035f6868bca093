"""Lesson 02: measure one call with a plain clock, and repair benchmarks that measure something else."""

from .repair import REPAIR
from .time_per_call import TIME_PER_CALL

TASKS = (TIME_PER_CALL, REPAIR)

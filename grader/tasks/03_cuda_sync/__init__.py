"""Exercise of lesson 03: the call returned; the work did not."""

from .time_async import TIME_ASYNC

TASKS = (TIME_ASYNC,)

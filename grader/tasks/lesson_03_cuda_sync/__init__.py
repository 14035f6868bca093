"""Exercise of lesson 03: time asynchronous work."""

from .time_async import TIME_ASYNC

TASKS = (TIME_ASYNC,)

"""Exercise of lesson 06: decide whether B is slower than A, with two guaranteed error rates."""

from .is_slower import IS_SLOWER

TASKS = (IS_SLOWER,)

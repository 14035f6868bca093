"""Exercise of lesson 04: choose a block size, and take samples in blocks."""

from .blocked_autorange import BLOCKED_AUTORANGE

TASKS = (BLOCKED_AUTORANGE,)

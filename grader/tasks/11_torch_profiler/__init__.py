"""Lesson 11: own times from the events of a trace, and the boxes of a flame graph from stacks."""

from .fold import FOLD
from .self_times import SELF_TIMES

TASKS = (SELF_TIMES, FOLD)

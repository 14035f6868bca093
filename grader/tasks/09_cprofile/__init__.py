"""Lesson 09: own and cumulative time from a call tree, and a hot spot that only a profile shows."""

from .own_time import OWN_TIME
from .scores import SCORES

TASKS = (OWN_TIME, SCORES)

"""Exercises of lesson 09: compute own times from a call tree, and remove a hidden hot spot."""

from .own_time import OWN_TIME
from .scores import SCORES

TASKS = (OWN_TIME, SCORES)

"""Exercises of lesson 08: find the function that became slower from two profiles, and remove instructions."""

from .by_function import BY_FUNCTION
from .culprit import CULPRIT

TASKS = (CULPRIT, BY_FUNCTION)

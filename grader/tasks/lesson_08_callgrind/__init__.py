"""Exercises of lesson 08: find a regression from two counts, and remove instructions from a function."""

from .by_function import BY_FUNCTION
from .culprit import CULPRIT

TASKS = (CULPRIT, BY_FUNCTION)

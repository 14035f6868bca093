"""Lesson 08: name what got worse from two counts, and take instructions out of a function."""

from .by_function import BY_FUNCTION
from .culprit import CULPRIT

TASKS = (CULPRIT, BY_FUNCTION)

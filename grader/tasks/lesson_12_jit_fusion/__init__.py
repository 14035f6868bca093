"""Exercises of lesson 12: one pass over memory instead of many, and the number of calls after which compiling pays."""

from .break_even import BREAK_EVEN
from .polynomial import POLYNOMIAL

TASKS = (POLYNOMIAL, BREAK_EVEN)

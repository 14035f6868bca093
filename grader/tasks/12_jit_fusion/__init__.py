"""Lesson 12: one pass in place of many, and when compiling has paid."""

from .break_even import BREAK_EVEN
from .polynomial import POLYNOMIAL

TASKS = (POLYNOMIAL, BREAK_EVEN)

"""Exercises of lesson 07: find the smallest slow input, and make an operation faster."""

from .larger_squared import LARGER_SQUARED
from .smallest_slow_case import SMALLEST_SLOW_CASE

TASKS = (SMALLEST_SLOW_CASE, LARGER_SQUARED)

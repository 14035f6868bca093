"""Lesson 07: find the input that hurts, and make it hurt less."""

from .larger_squared import LARGER_SQUARED
from .smallest_slow_case import SMALLEST_SLOW_CASE

TASKS = (SMALLEST_SLOW_CASE, LARGER_SQUARED)

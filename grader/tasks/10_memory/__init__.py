"""Lesson 10: the same answer in a quarter of the memory, and a pipeline that asks for memory once."""

from .nearest import NEAREST
from .tone_curve import TONE_CURVE

TASKS = (NEAREST, TONE_CURVE)

"""Lesson 05: which of two is faster, and where that changes."""

from .convolve import CONVOLVE
from .crossover import CROSSOVER

TASKS = (CROSSOVER, CONVOLVE)

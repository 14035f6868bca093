"""Exercises of lesson 13: a stack machine for CPython's instructions, and counts of pairs of opcodes."""

from .pairs import PAIRS
from .run import RUN

TASKS = (RUN, PAIRS)

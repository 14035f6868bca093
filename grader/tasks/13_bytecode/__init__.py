"""Lesson 13: a stack machine for instructions of CPython, and the same result in fewer executed opcodes."""

from .pairs import PAIRS
from .run import RUN

TASKS = (RUN, PAIRS)

"""Lesson 14: a C function in place of a Python loop."""

from .checksum import CHECKSUM

TASKS = (CHECKSUM,)

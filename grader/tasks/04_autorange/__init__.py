"""Lesson 04: how many calls make one sample, and how many samples make a measurement."""

from .blocked_autorange import BLOCKED_AUTORANGE

TASKS = (BLOCKED_AUTORANGE,)

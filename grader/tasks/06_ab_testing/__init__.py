"""Lesson 06: the same code in two environments, and when to believe that they differ."""

from .is_slower import IS_SLOWER

TASKS = (IS_SLOWER,)

"""Lesson 15: a grouped benchmark made flat, and cores shared out."""

from .expand import EXPAND
from .schedule import SCHEDULE

TASKS = (EXPAND, SCHEDULE)

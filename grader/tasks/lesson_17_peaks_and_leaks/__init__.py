"""Exercises of lesson 17: find the memory at the peak of a recording, and choose checkpoints of a network."""

from .at_peak import AT_PEAK
from .checkpoints import CHECKPOINTS

TASKS = (AT_PEAK, CHECKPOINTS)

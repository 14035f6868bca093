"""Exercises of lesson 05: find the size at which the faster function changes, and choose the faster method."""

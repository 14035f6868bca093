"""Exercises of lesson 11: compute a profiler's own times and a flame graph, and find an expensive call."""

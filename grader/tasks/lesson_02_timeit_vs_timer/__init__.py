"""Exercises of lesson 02: measure one call with a simple clock, and repair five broken benchmarks."""

"""Exercises of lesson 15: expand a grouped benchmark to a flat list, and assign cores to jobs."""

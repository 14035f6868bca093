"""Exercises of lesson 17: find the memory at the peak of a recording, and choose checkpoints of a network."""

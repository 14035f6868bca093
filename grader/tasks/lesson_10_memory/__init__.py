"""Exercises of lesson 10: the same answer with less peak memory, and a pipeline that allocates memory once."""

"""Exercises of lesson 16: estimate a function's share from few samples, and find the functions that changed."""

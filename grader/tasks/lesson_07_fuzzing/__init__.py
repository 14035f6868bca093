"""Exercises of lesson 07: find the smallest slow input, and make an operation faster."""

"""Exercises of lesson 09: compute own times from a call tree, and remove a hidden hot spot."""

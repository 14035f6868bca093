"""Exercise of lesson 14: a C function instead of a Python loop."""

"""Exercises of lesson 13: a stack machine for CPython's instructions, and counts of pairs of opcodes."""

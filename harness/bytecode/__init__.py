"""Inspect CPython bytecode: the instructions of a function, its value stack, and the opcodes that it executes."""

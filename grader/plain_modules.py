"""The modules that a submission may import while its opcodes are counted."""

from typing import Final

PLAIN_MODULES: Final = (
    *("__future__", "array", "bisect", "collections", "dataclasses", "functools", "heapq", "itertools", "math"),
    *("operator", "re", "string", "typing"),
)
"""Modules of the standard library whose functions only compute: they read no files and start no processes."""

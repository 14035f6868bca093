"""Exercise of lesson 01: a fast wrong answer is worth nothing."""

from importlib import import_module

TASKS = (import_module(".batched_dot", __name__).TASK, import_module(".agrees", __name__).AGREES)

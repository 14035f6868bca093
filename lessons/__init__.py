"""Lessons in measuring: one file a lesson, run with `python -m lessons.NN_name`; `python -m lessons` lists them."""

"""Lessons, one file each: `python -m lessons` lists them, `python -m lessons.NN_name` runs one."""

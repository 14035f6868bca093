"""Lessons, one file each: `python -m lessons` lists them, `python -m lessons.NN_name` runs one."""

import gc
import sys

if sys.argv[0] == "-m":  # Python is on its way to a lesson, whose imports are still to come
    gc.disable()  # until all are there: to look through what torch makes, again and again, is a fifth of its import

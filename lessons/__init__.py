"""The lessons, one file each. `python -m lessons` lists the lessons, and `python -m lessons.NN_name` runs a lesson."""

import gc
import sys

import harness  # noqa: F401 - before a lesson imports torch: it hides what torch prints about a missing GPU

if sys.argv[0] == "-m":  # Python is about to import a lesson
    gc.disable()  # the collector takes a fifth of torch's import time; `_imports_frozen` enables it again

"""The lessons, one file each. `python -m lessons` lists the lessons, and `python -m lessons.NN_name` runs a lesson."""

import gc
import os
import sys

# `python -m` takes modules from the current folder first, also a student's own random.py. So the kit replaces it.
if sys.argv[0] == "-m" and not getattr(sys.flags, "safe_path", False) and os.path.isdir(sys.path[0]):  # noqa: PTH112
    sys.path[:] = [*sys.path[1:], os.path.dirname(os.path.dirname(__file__))]  # noqa: PTH120

from harness import installation  # before a lesson imports torch: it hides what torch prints about a missing GPU

if sys.argv[0] == "-m":  # Python is about to import a lesson
    installation.require()
    gc.disable()  # the collector takes a fifth of torch's import time; `_imports_frozen` enables it again

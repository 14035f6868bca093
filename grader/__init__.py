"""The autograder: it checks the answers of a student's code, and measures its cost from outside its process."""

import os
import sys

# `python -m` takes modules from the current folder first, also a student's own random.py. So the kit replaces it.
if sys.argv[0] == "-m" and not getattr(sys.flags, "safe_path", False) and os.path.isdir(sys.path[0]):  # noqa: PTH112
    sys.path[:] = [*sys.path[1:], os.path.dirname(os.path.dirname(__file__))]  # noqa: PTH120

import harness  # noqa: F401 - also in a sandbox: it hides what torch prints about a missing GPU

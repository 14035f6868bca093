"""`python -m grader.stubs`, the former name of `python -m grader stubs`."""

import sys

from grader.__main__ import app
from harness.command_line.command import guarded

if __name__ == "__main__":
    sys.exit(guarded(app, "python -m grader", ["stubs", *sys.argv[1:]]))

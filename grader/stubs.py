"""`python -m grader.stubs`, the former name of `python -m grader stubs`."""

import sys

from grader.__main__ import run

if __name__ == "__main__":
    sys.exit(run(["stubs", *sys.argv[1:]]))

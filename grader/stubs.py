"""`python -m grader.stubs`, the former name of `python -m grader stubs`."""

import sys

from grader.commands.apps import run_grader

if __name__ == "__main__":
    sys.exit(run_grader(["stubs", *sys.argv[1:]]))

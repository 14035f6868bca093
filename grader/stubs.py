"""`python -m grader.stubs`, the former name of `python -m grader stubs`."""

import sys

from grader.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["stubs", *sys.argv[1:]]))

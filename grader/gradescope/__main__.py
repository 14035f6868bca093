"""The command `python -m grader.gradescope [--check] ROOT`, which Gradescope's scripts call."""

import sys

from grader.gradescope.autograder import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

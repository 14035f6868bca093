"""`python -m grader.gradescope [--check] ROOT`, as the image's scripts call it."""

import sys

from grader.gradescope.autograder import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run the command `python -m harness.suite`, with which users measure benchmarks or compare two runs."""

import sys

from harness.suite.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m harness.suite DEFINITIONS.py --out FILE`, and `python -m harness.suite compare A.json B.json`."""

import sys

from harness.suite.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

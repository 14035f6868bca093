"""The program `fairclock`: all commands of `python -m grader`, and `fairclock lessons`, which is `python -m lessons`.

`student_kit/fairclock` starts it. In the folder of a downloaded copy it runs that copy's code, so `fairclock check`
grades the exercises edited there.
"""

import sys

from harness import installation, standard_streams


def main() -> int:
    """Run the command given on the command line, and return its exit code."""
    standard_streams.open_closed()
    installation.require(linux=True)
    from grader.commands.apps import run_fairclock  # noqa: PLC0415 - it imports packages, which may be missing

    return run_fairclock(sys.argv[1:])

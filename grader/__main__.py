"""`python -m grader`: run the command."""

import sys

from harness import installation, standard_streams


def main() -> int:
    """Run the command given on the command line, and return its exit code."""
    standard_streams.open_closed()
    installation.require(linux=True)
    from grader.commands.apps import run_grader  # noqa: PLC0415 - it imports packages, which may be missing

    return run_grader(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

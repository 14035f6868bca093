"""The version of the installed exercises and grader."""

from grader.errors import UsageError
from harness.machine.environment import Environment


def version() -> str:
    """Return the version of the exercises and the grader. Raise `UsageError` if they are not installed."""
    kit = Environment.capture().kit
    if kit == "absent":
        raise UsageError("The kit is not installed. Run pip install -e . in its folder first.")
    return kit

"""The version of the kit."""

from grader.errors import UsageError
from harness.machine.environment import Environment


def version() -> str:
    """Return the kit's version. Raise `UsageError` if the kit is not installed."""
    kit = Environment.capture().kit
    if kit == "absent":
        raise UsageError("The kit is not installed. Run pip install -e . in its folder first.")
    return kit

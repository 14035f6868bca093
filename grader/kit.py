"""Which version of the kit this is."""

from grader.errors import UsageError
from harness.environment import Environment


def version() -> str:
    """Return the kit's version. Raises `UsageError` where it is not installed."""
    kit = Environment.capture().kit
    if kit == "absent":
        raise UsageError("The kit is not installed; run pip install -e . in its folder first.")
    return kit

"""Return the marks that skip a test when a system program that its tasks need is missing."""

import pytest

from grader.task import Task
from grader.trials import native


def needs(*tasks: Task) -> list[pytest.MarkDecorator]:
    """Return the marks for a test that grades all of these tasks."""
    return [pytest.mark.program("cc")] if any(map(native.is_native, tasks)) else []

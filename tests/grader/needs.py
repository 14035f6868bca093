"""Return the marks that skip a test when a system program that its tasks need is missing."""

import pytest

from grader.task import Task


def needs(*tasks: Task) -> list[pytest.MarkDecorator]:
    """Return the marks for a test that grades all of these tasks."""
    return [pytest.mark.program("cc")] if any(task.exam.in_c for task in tasks) else []

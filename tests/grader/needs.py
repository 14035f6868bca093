"""Return the marks that skip a test when a system program that its tasks need is missing."""

import pytest

from grader.records import Cost
from grader.task import Task
from grader.trials import native


def needs(*tasks: Task) -> list[pytest.MarkDecorator]:
    """Return the marks for a test that grades all of these tasks."""
    marks = [pytest.mark.valgrind] if any(task.cost is Cost.INSTRUCTIONS for task in tasks) else []
    return [*marks, pytest.mark.program("cc")] if any(map(native.is_native, tasks)) else marks

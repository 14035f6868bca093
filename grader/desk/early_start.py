"""Begin to import torch, which takes over a second, before the command `check` itself is imported."""

import atexit
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader import paths
from harness.command_line import lesson_aliases

if TYPE_CHECKING:
    from grader.isolation.pool import Pool

TREES: Final = 2
"""The number of processes to start early for a task with tensors: one for the submission and one for the baseline."""

_begun: Final[list["Pool"]] = []


def begin(arguments: Sequence[str]) -> None:
    """Start processes with torch if these arguments check an exercise that needs it. A wrong guess costs only time."""
    if guess_torch(arguments):
        from grader.isolation import sandbox  # noqa: PLC0415 - most commands do not need these modules
        from grader.isolation.pool import Pool  # noqa: PLC0415

        _begun.append(Pool(sandboxed=sandbox.problem() is None))
        atexit.register(_begun[0].close)
        _begun[0].warm(TREES)


def guess_torch(arguments: Sequence[str]) -> bool:
    """Return whether these arguments are `check` and name a task that needs torch, or a lesson with such a task."""
    words = {word for each in arguments[1:] for word in re.split(r"[./\\]", each)}
    for lesson, tasks in paths.tasks_of_lessons().items() if arguments[:1] == ["check"] else ():
        meant = words.intersection(tasks) or (tasks if words.intersection(lesson_aliases(lesson)) else ())
        if any("torch" in tasks[task] for task in meant):
            return True
    return False


def take() -> "Pool | None":
    """Return the pool that has started these processes. Return None if there is none, or if it was taken."""
    return _begun.pop() if _begun else None

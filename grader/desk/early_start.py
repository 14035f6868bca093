"""Begin to import torch before the command `check` itself is imported.

The check of an exercise with tensors waits more than a second until a template process has imported torch. The imports
of the command take a third of a second. On two cores, both happen at the same time.
"""

import atexit
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader import paths
from harness.command_line.names import lesson_aliases

if TYPE_CHECKING:
    from grader.isolation.template import Template

_SEPARATOR: Final = re.compile(r"[./\\]")
_begun: Final[list["Template"]] = []


def begin(arguments: Sequence[str]) -> None:
    """Start a template process if these arguments of the command line check an exercise that needs torch.

    This is a guess, because the arguments are not parsed yet. A wrong guess costs only time.
    """
    if not guess_torch(arguments):
        return
    from grader.isolation import sandbox  # noqa: PLC0415 - most commands do not need these modules
    from grader.isolation.template import Template  # noqa: PLC0415

    if sandbox.can_use_template(sandboxed=False):
        _begun.append(Template(sandboxed=False))
        atexit.register(end)


def guess_torch(arguments: Sequence[str]) -> bool:
    """Return whether the arguments are those of `check`, and name an exercise or a task that needs torch.

    The names are those of the command: `1`, `01.agrees`, `correct_first`, `agrees` and `hw1/01_correct_first.py`.
    """
    if arguments[:1] != ["check"]:
        return False
    words = {word for each in arguments[1:] for word in _SEPARATOR.split(each)}
    listed = paths.tasks_of_lessons()
    named = [tasks for lesson, tasks in listed.items() if words.intersection(lesson_aliases(lesson))]
    possible = [task for tasks in named or listed.values() for task in tasks.items()]
    meant = [task for task in possible if task[0] in words] or (possible if named else [])
    return any("torch" in needs for _, needs in meant)


def take() -> "Template | None":
    """Return the template process for the caller, who ends it. Return None if there is none, or if it was taken."""
    return _begun.pop() if _begun else None


def end() -> None:
    """End the template process if nothing took it."""
    if template := take():
        template.retire()

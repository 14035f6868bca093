"""The kinds of exams, one file each. A new kind is one file, which is listed here."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from grader.errors import GraderFault
from grader.kinds import simulated, tensors, values
from grader.kinds.kind import Draw, Kind
from grader.records import Attempt
from grader.session import Session
from grader.task import Mismatch, Task

KINDS: Final[dict[type, Kind[Any]]] = {kind.exam: kind for kind in (tensors.KIND, simulated.KIND, values.KIND)}

TIMED: Final = 2
"""The number of judged inputs of each timed size. A function that always returns its first answer fails the second."""


def examine(task: Task, source: str, session: Session, seed: Sequence[str]) -> Attempt:
    """Grade a source text on a task, with inputs drawn from `seed`.

    Raise `WorkerFault` if the submission ends its own grading, and `GraderFault` for an internal error.
    """
    kind = KINDS[type(task.exam)]
    if task.cost not in kind.costs:
        raise GraderFault(f"{task.full_name}: a {type(task.exam).__name__} cannot measure {task.cost}.")
    return kind.examine(task, task.exam, source, session, seed)


def examine_known(task: Task, source: str, session: Session, seed: Sequence[str]) -> Attempt:
    """Grade a source text of the kit as `examine` does, but in this process if that is faster.

    In this process, exceptions of the source text are not caught.
    """
    kind = KINDS[type(task.exam)]
    return (kind.examine_known or kind.examine)(task, task.exam, source, session, seed)


def draw(task: Task, seed: str, timed: int = TIMED) -> Draw[Any]:
    """Return the random test cases of a task for one seed, on which trusted code is judged in this process."""
    return KINDS[type(task.exam)].draw(task, task.exam, seed, timed)


def try_out(task: Task, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    """Call a student's function in this process on one small case of a task.

    Return a description of the case, and a mismatch if the answer is wrong. Exceptions of the function are not caught.
    """
    return KINDS[type(task.exam)].try_out(task.exam, function)

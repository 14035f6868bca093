"""Grade a source text on any exercise task: choose the function for this kind of task."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from grader.errors import GraderFault
from grader.records import Attempt, Cost
from grader.session import Session
from grader.task import SimulatedExam, Task, TensorExam, ValueExam
from grader.trials import peak_memory, simulated, sizes, tensors, values

Examiner = Callable[[Task, Any, str, Session, Sequence[str]], Attempt]
"""A function that grades a source text on a task of a certain kind."""

EXAMINERS: Final[Mapping[tuple[type, Cost], Examiner]] = {
    (TensorExam, Cost.TIME): partial(tensors.examine, measure=sizes.compare),
    (TensorExam, Cost.WALL_TIME): partial(tensors.examine, measure=partial(sizes.compare, by_wall=True)),
    (TensorExam, Cost.PEAK_MEMORY): partial(tensors.examine, measure=peak_memory.compare),
    (SimulatedExam, Cost.CALLS): simulated.examine,
    (SimulatedExam, Cost.SIMULATED_TIME): simulated.examine,
    (SimulatedExam, Cost.PEAK_MEMORY): simulated.examine,
    (ValueExam, Cost.TIME): values.examine,
}


def examine(task: Task, source: str, session: Session, seed: Sequence[str]) -> Attempt:
    """Grade a source text on a task, with inputs drawn from `seed`.

    Raise `WorkerFault` if the submission ends its own grading, and `GraderFault` for an internal error.
    """
    examiner = EXAMINERS.get((type(task.exam), task.cost))
    if examiner is None:
        raise GraderFault(f"{task.full_name}: a {type(task.exam).__name__} cannot measure {task.cost}.")
    return examiner(task, task.exam, source, session, seed)

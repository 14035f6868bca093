"""The kinds of exams and of costs, one file each. A new kind is one file, and a line below.

A kind of exam derives from `Examiner`. A kind of cost is a `Cost`, with its words and its margin, or a `MeasuredCost`,
which measures it in grading and estimates it for `lint`.
"""

from typing import Any, Final

from grader.kinds.examiner import TIMED, Examiner
from grader.kinds.peak_memory import PEAK_MEMORY
from grader.kinds.simulated import CALLS, SIMULATED_TIME, SimulatedExaminer
from grader.kinds.tensors import TensorExaminer
from grader.kinds.timing import TIME, WALL_TIME
from grader.kinds.values import ValueExaminer
from grader.records import Cost
from grader.task import SimulatedExam, Task, TensorExam, ValueExam

EXAMINERS: Final[dict[type, type[Examiner[Any]]]] = {
    TensorExam: TensorExaminer,
    SimulatedExam: SimulatedExaminer,
    ValueExam: ValueExaminer,
}

COSTS: Final[dict[str, Cost]] = {cost.name: cost for cost in (TIME, WALL_TIME, PEAK_MEMORY, CALLS, SIMULATED_TIME)}
"""All kinds of cost by name."""


def examiner(task: Task, *seed: str, timed: int = TIMED) -> Examiner[Any]:
    """Return a task's examiner. Trusted code is judged on `timed` inputs of each timed size too."""
    return EXAMINERS[type(task.exam)](task, task.exam, seed, timed)

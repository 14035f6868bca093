"""What a kind of exam does, as a type: it examines a submission, and tries a student's function in a notebook."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from grader.records import Attempt, Cost
from grader.session import Session
from grader.task import Mismatch, SimulatedExam, Task, TensorExam, ValueExam

E = TypeVar("E", TensorExam, SimulatedExam, ValueExam)


@dataclass(frozen=True)
class Kind(Generic[E]):
    """The functions for exams of the class `exam`, which can measure the kinds of cost `costs`.

    `examine(task, exam, source, session, seed)` grades a source text. `try_out(exam, function)` calls a student's
    function on one small case, and returns a description of the case and a mismatch if the answer is wrong.
    """

    exam: type[E]
    costs: Collection[Cost]
    examine: Callable[[Task, E, str, Session, Sequence[str]], Attempt]
    try_out: Callable[[E, Callable[..., Any]], tuple[str, Mismatch | None]]

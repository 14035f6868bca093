"""Call a student's function in a notebook on one small case, before it is graded.

The function runs in the notebook's own process. So its exceptions keep their tracebacks, and its output is shown.
Nothing here earns points: grading uses other cases and measures the cost.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from grader import catalogue
from grader.errors import UsageError
from grader.seeds import generator
from grader.task import Inputs, Mismatch, Scenario, SimulatedExam, SimulatedFunction, Task, TensorExam, ValueExam
from grader.trials import native
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import describe
from grader.values import Value

SEED: Final = "try"
"""A fixed seed, so that each call of `tryout` uses the same test case."""


def tryout(lesson: str, *functions: Callable[..., Any] | str) -> None:
    """Call each function on one case of its task in `lesson`, and print whether the answer is right.

    A function given as a string is C source, which is compiled first. An exception of the function is not caught. Raise
    `UsageError` if no task of the lesson has a function of this name, or if the C source does not compile.
    """
    asked = {name: task for task in catalogue.load().tasks(lesson) for name in task.functions}
    for given in functions:
        function = native.function(asked.values(), given) if isinstance(given, str) else given
        task = asked.get(function.__name__)
        if task is None:
            raise UsageError(f"No task of {lesson} has a function {function.__name__}. There are: {', '.join(asked)}.")
        case, mismatch = _play(task, function)
        said = "\n".join([f"{function.__name__}: not right yet. {case}", *mismatch.lines]) if mismatch else ""
        print(said or f"{function.__name__}: right. {case}")


def _play(task: Task, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    if isinstance(task.exam, TensorExam):
        return _call(task.exam, function)
    return _enter(task.exam, function)


def _call(exam: TensorExam, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    """Call the function on the smallest test case with several numbers, so that a student can compute it by hand."""
    import torch  # noqa: PLC0415 - takes over a second, and every command of the grader loads this module

    cases: Sequence[Inputs] = exam.cases(generator(SEED))
    inputs = min(cases, key=lambda arrays: (min(array.size for array in arrays) < 2, sum(a.size for a in arrays)))
    given = [torch.from_numpy(array.copy()) for array in inputs]
    answer = function(*given)
    array = answer.detach().numpy() if isinstance(answer, torch.Tensor) else None
    unchanged = all(np.array_equal(one.numpy(), array) for one, array in zip(given, inputs, strict=True))
    told = Answer(array, type(answer).__name__, inputs_unchanged=unchanged)
    return f"Called with {describe(exam.parameters, inputs)}.", judge(Expected.of(exam, inputs), told)


def _enter(exam: SimulatedExam | ValueExam, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    scenario = next(each for each in exam.scenarios(generator(SEED)) if each.function == function.__name__)
    answer = function(
        *(_simulated(scenario, a.name) if isinstance(a, SimulatedFunction) else a for a in scenario.arguments)
    )
    return f"The scenario: {scenario.title}.", scenario.judge(_plain(answer))


def _simulated(scenario: Scenario, name: str) -> Callable[..., Value]:
    return lambda *arguments: scenario.call(name, arguments)


def _plain(answer: Any) -> Value:
    """Return the answer with lists in place of tuples, as it is after the transfer from a submission's process."""
    return [_plain(item) for item in answer] if isinstance(answer, list | tuple) else answer

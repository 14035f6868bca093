"""Trying a function out where it was written, before it is graded: one small case, in this very process.

For notebooks. What the function raises comes out with its own traceback, and what it prints is seen. Nothing here earns
points: grading draws other cases, and the clock.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from grader import catalogue
from grader.errors import UsageError
from grader.task import CountedExam, Inputs, Metered, MeteredExam, Mismatch, Scenario, Task, TensorExam
from grader.trials import native
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.inputs import describe, generator
from grader.values import Value

SEED: Final = "try"
"""The same case each time: what changed is the function."""


def tryout(lesson: str, *functions: Callable[..., Any] | str) -> None:
    """Call each function once, on a case of the task of `lesson` that asks for it, and print how that went.

    A text is C source, which is compiled here. Raises what the function raises, and `UsageError` for a function that no
    task of the lesson asks for, or that does not compile.
    """
    asked = {name: task for task in catalogue.load().tasks(lesson) for name in functions_of(task)}
    for given in functions:
        function = native.function(asked.values(), given) if isinstance(given, str) else given
        task = asked.get(function.__name__)
        if task is None:
            raise UsageError(f"No task of {lesson} asks for {function.__name__}. Asked for: {', '.join(asked)}.")
        case, mismatch = _play(task, function)
        said = "\n".join([f"{function.__name__}: not right yet. {case}", *mismatch.lines]) if mismatch else ""
        print(said or f"{function.__name__}: right. {case}")


def functions_of(task: Task) -> tuple[str, ...]:
    """Names of the functions a student writes for a task, in the order in which they are judged."""
    if isinstance(task.exam, TensorExam):
        return (task.name,)
    return tuple(dict.fromkeys(world.function for world in task.exam.scenarios(generator(SEED))))


def _play(task: Task, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    if isinstance(task.exam, TensorExam):
        return _call(task.exam, function)
    return _enter(task.exam, function)


def _call(exam: TensorExam, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    """Call on the smallest case with more than a number in it: small enough to follow by hand."""
    import torch  # noqa: PLC0415 - takes over a second, and every verb of the grader loads this module

    cases: Sequence[Inputs] = exam.cases(generator(SEED))
    inputs = min(cases, key=lambda arrays: (min(array.size for array in arrays) < 2, sum(a.size for a in arrays)))
    given = [torch.from_numpy(array.copy()) for array in inputs]
    answer = function(*given)
    array = answer.detach().numpy() if isinstance(answer, torch.Tensor) else None
    unchanged = all(np.array_equal(one.numpy(), array) for one, array in zip(given, inputs, strict=True))
    told = Answer(array, type(answer).__name__, inputs_unchanged=unchanged)
    return f"Called with {describe(exam.parameters, inputs)}.", judge(Expected.of(exam, inputs), told)


def _enter(exam: MeteredExam | CountedExam, function: Callable[..., Any]) -> tuple[str, Mismatch | None]:
    world = next(each for each in exam.scenarios(generator(SEED)) if each.function == function.__name__)
    answer = function(*(_metered(world, a.name) if isinstance(a, Metered) else a for a in world.arguments))
    return f"The world: {world.title}.", world.judge(_plain(answer))


def _metered(world: Scenario, name: str) -> Callable[..., Value]:
    return lambda *arguments: world.call(name, arguments)


def _plain(answer: Any) -> Value:
    """Turn tuples into lists, as the way from a worker does."""
    return [_plain(item) for item in answer] if isinstance(answer, list | tuple) else answer

"""Call a student's function in a notebook on one small case, before it is graded. It earns no points."""

from collections.abc import Callable
from typing import Any

from grader import catalogue, kinds
from grader.errors import UsageError
from grader.trials import native


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
        case, mismatch = kinds.examiner(task).try_out(function)
        said = "\n".join([f"{function.__name__}: not right yet. {case}", *mismatch.lines]) if mismatch else ""
        print(said or f"{function.__name__}: right. {case}")

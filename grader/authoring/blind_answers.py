"""Find tasks that accept an answer which was given without looking at the task's input.

Such an answer is a constant, an unchanged argument, or a right answer to another input. If it is accepted, a student
could guess the answers. Or the order of the test cases reveals them, or the test cases need no work.
"""

import operator
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, repeat
from typing import Any, Final

import numpy as np

from grader import paths
from grader.authoring import in_process
from grader.authoring.in_process import Bench, Solver
from grader.seeds import generator
from grader.task import Array, Inputs, Scenario, Task, TensorExam
from grader.trials import simulated

CONSTANTS: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.0, "", [], {})

Cell = tuple[int, ...]
"""The position of a cell: the number of the argument that is a table, the row, the column. It is () for no cell."""

NewSolver = Callable[[], Solver]
"""A function that returns a new function to answer test cases, which begins with its first answer."""


def right_blind_answers(task: Task) -> Iterator[str]:
    """Yield one sentence for each accepted answer that does not use the task's input, such as "it returns None"."""
    bench = Bench(task)
    for name, blind in solvers(task):
        if bench.worth(blind()).right:
            yield f"a solver that ignores the question is right: it returns {name}"


def solvers(task: Task) -> Iterator[tuple[str, NewSolver]]:
    """Yield functions that answer test cases without looking at them, each with a description of its answers."""
    if isinstance(task.exam, TensorExam):
        if not task.exam.in_c:
            yield from _of_tensors(task)
        return
    answers = other_answers(task)
    scenarios = task.exam.scenarios(generator("other inputs"))
    yield from ((repr(value), _always(value)) for value in CONSTANTS)
    for number in range(max(len(scenario.arguments) for scenario in scenarios)):
        yield f"argument {number + 1}", partial(_argument, number)
        yield f"argument {number + 1}, backwards", partial(_backwards, number)
    yield "the most frequent right answer to other inputs", _always(most_frequent(answers))
    yield "right answers to other inputs, in order", lambda: _one_by_one(answers)
    yield "right answers to other inputs, in reverse order", lambda: _one_by_one(answers[::-1])
    yield (
        "for each scenario, a right answer for another scenario of the same title",
        lambda: _by_title(scenarios, answers),
    )
    places = [
        _place(simulated.arguments_here(scenario), answer) for scenario, answer in zip(scenarios, answers, strict=True)
    ]
    if any(places):
        yield "the cells where the right answers to other inputs were, in order", lambda: _at(cycle(places))
        yield "the cell where the right answer was most often", lambda: _at(repeat(most_frequent(places)))
    numbers = [one for one in answers if isinstance(one, int | float) and not isinstance(one, bool)]
    if numbers:
        yield "the median of right answers to other inputs", _always(statistics.median(numbers))


def other_answers(task: Task) -> list[Any]:
    """Return the reference solution's answers to random test cases that are not used in grading."""
    assert not isinstance(task.exam, TensorExam)
    solver = in_process.of_source(task, paths.solution(task.lesson).read_text(encoding="utf-8"))
    return [simulated.as_plain(solver(scenario)) for scenario in task.exam.scenarios(generator("other inputs"))]


def most_frequent(answers: Sequence[Any]) -> Any:
    """Return the most frequent answer. If several answers are equally frequent, return the first of them."""
    times = Counter(map(repr, answers))
    return max(answers, key=lambda answer: times[repr(answer)])


def _always(value: Any) -> NewSolver:
    return lambda: lambda _: value


def _always_by(solver: Solver) -> NewSolver:
    return lambda: solver


def _filled(value: float, inputs: Inputs) -> Array:
    return np.full_like(inputs[0], value, np.float64)


def _argument(number: int) -> Solver:
    return lambda scenario: simulated.arguments_here(scenario)[number]


def _backwards(number: int) -> Solver:
    return lambda scenario: simulated.arguments_here(scenario)[number][::-1]


def _place(arguments: Sequence[Any], answer: Any) -> Cell:
    for number, table in enumerate(arguments):
        for row, cells in enumerate(table if isinstance(table, list) else []):
            for column, cell in enumerate(cells if isinstance(cells, list) else []):
                if isinstance(answer, str) and cell == answer:
                    return number, row, column
    return ()


def _at(places: Iterator[Cell]) -> Solver:
    def answer(scenario: Scenario) -> Any:
        number, row, column = next(places)
        return simulated.arguments_here(scenario)[number][row][column]

    return answer


def _one_by_one(answers: Sequence[Any]) -> Solver:
    left = cycle(answers)
    return lambda _: next(left)


def _by_title(scenarios: Sequence[Scenario], answers: Sequence[Any]) -> Solver:
    known = {scenario.title: answer for scenario, answer in zip(scenarios, answers, strict=True)}
    return lambda scenario: known.get(scenario.title)


def _of_tensors(task: Task) -> Iterator[tuple[str, NewSolver]]:
    cases = Bench(task, "other inputs").cases
    for number in range(len(cases[0][0])):
        yield f"argument {number + 1}", _always_by(operator.itemgetter(number))
    for value in (0.0, 1.0, np.nan):
        yield f"{value} in every element", _always_by(partial(_filled, value))
    yield "right answers to other inputs, in order", lambda: _one_by_one([one.want for _, one in cases])

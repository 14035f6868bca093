"""Solvers that answer without looking at what they are asked. None of them may be right in any task.

They return a constant, an argument as it is, the most frequent or the middle one of the right answers to other inputs,
or these answers in their order. Where one is right, the answers of a task are known beforehand, its cases have an order
that tells them, or a case asks for nothing. `lint` tries all of them.
"""

import operator
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, repeat
from typing import Any, Final

import numpy as np

from grader import catalogue
from grader.task import Array, Inputs, Scenario, Task, TensorExam
from grader.trials import in_process, metered
from grader.trials.in_process import Bench, Solver
from grader.trials.inputs import generator

CONSTANTS: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.0, "", [], {})

Place = tuple[int, ...]
"""The number of an argument, a row and a column; empty where the answer stands nowhere."""

Blind = Callable[[], Solver]
"""Makes a solver that has answered nothing yet."""


def sighted(task: Task) -> Iterator[str]:
    """Yield a sentence for each solver that is right in a task without looking."""
    bench = Bench(task)
    for name, blind in solvers(task):
        if bench.worth(blind()).right:
            yield f"a solver that looks at nothing is right: it returns {name}"


def solvers(task: Task) -> Iterator[tuple[str, Blind]]:
    """Yield all of them for a task, each with what it returns."""
    if isinstance(task.exam, TensorExam):
        if not task.exam.in_c:
            yield from _of_tensors(task)
        return
    answers = elsewhere(task)
    worlds = task.exam.scenarios(generator("other inputs"))
    yield from ((repr(value), _always(value)) for value in CONSTANTS)
    for number in range(max(len(world.arguments) for world in worlds)):
        yield f"argument {number + 1}", partial(_argument, number)
        yield f"argument {number + 1}, backwards", partial(_backwards, number)
    yield "the most frequent right answer to other inputs", _always(most_frequent(answers))
    yield "right answers to other inputs, in their order", lambda: _one_by_one(answers)
    yield "right answers to other inputs, backwards", lambda: _one_by_one(answers[::-1])
    yield "for each title, a right answer of a world of this title", lambda: _by_title(worlds, answers)
    places = [_place(metered.arguments_here(world), answer) for world, answer in zip(worlds, answers, strict=True)]
    if any(places):
        yield "what stands where the right answer to other inputs stood, in their order", lambda: _at(cycle(places))
        yield "what stands where the right answer stood most often", lambda: _at(repeat(most_frequent(places)))
    numbers = [one for one in answers if isinstance(one, int | float) and not isinstance(one, bool)]
    if numbers:
        yield "the middle one of right answers to other inputs", _always(statistics.median(numbers))


def elsewhere(task: Task) -> list[Any]:
    """Return the reference solution's answers to other inputs, one a world."""
    assert not isinstance(task.exam, TensorExam)
    solver = in_process.of_source(task, catalogue.solution(task.lesson).read_text(encoding="utf-8"))
    return [metered.as_plain(solver(world)) for world in task.exam.scenarios(generator("other inputs"))]


def most_frequent(answers: Sequence[Any]) -> Any:
    """Return the answer that occurs most often, the first of several."""
    times = Counter(map(repr, answers))
    return max(answers, key=lambda answer: times[repr(answer)])


def _always(value: Any) -> Blind:
    return lambda: lambda _: value


def _always_by(solver: Solver) -> Blind:
    return lambda: solver


def _filled(value: float, inputs: Inputs) -> Array:
    return np.full_like(inputs[0], value, np.float64)


def _argument(number: int) -> Solver:
    return lambda world: metered.arguments_here(world)[number]


def _backwards(number: int) -> Solver:
    return lambda world: metered.arguments_here(world)[number][::-1]


def _place(arguments: Sequence[Any], answer: Any) -> Place:
    """Return the first place in a table of the arguments where the answer stands; nothing where there is none."""
    for number, table in enumerate(arguments):
        for row, cells in enumerate(table if isinstance(table, list) else []):
            for column, cell in enumerate(cells if isinstance(cells, list) else []):
                if isinstance(answer, str) and cell == answer:
                    return number, row, column
    return ()


def _at(places: Iterator[Place]) -> Solver:
    """Return what stands at the next of these places."""

    def answer(world: Scenario) -> Any:
        number, row, column = next(places)
        return metered.arguments_here(world)[number][row][column]

    return answer


def _one_by_one(answers: Sequence[Any]) -> Solver:
    left = cycle(answers)
    return lambda _: next(left)


def _by_title(worlds: Sequence[Scenario], answers: Sequence[Any]) -> Solver:
    known = {world.title: answer for world, answer in zip(worlds, answers, strict=True)}
    return lambda world: known.get(world.title)


def _of_tensors(task: Task) -> Iterator[tuple[str, Blind]]:
    cases = Bench(task, "other inputs").cases
    for number in range(len(cases[0][0])):
        yield f"argument {number + 1}", _always_by(operator.itemgetter(number))
    for value in (0.0, 1.0, np.nan):
        yield f"{value} everywhere", _always_by(partial(_filled, value))
    yield "right answers to other inputs, in their order", lambda: _one_by_one([one.want for _, one in cases])

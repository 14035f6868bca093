"""Find ways to earn points without work: code of the student kit, and answers that ignore the input.

The command `release`, which makes the kit, refuses code that earns points. This code is tried as an answer:

- every property and method of a simulated scenario, on a copy of the scenario that has only the arguments of the
  student's function. If a function of the task's modules parses an argument, the copy has the result too,
- every function of the task's modules that takes as many arguments as the student's function,
- every baseline in the kit with one of its loops removed,
- every baseline for a single size, unchanged.

`lint --mutants` tries this code after each single change (`changed`). `lint` also tries answers that ignore the input.
In a task without speed thresholds, no code may be right. In other tasks, no code may reach a threshold. Tasks in C are
left out.
"""

import contextlib
import copy
import dataclasses
import inspect
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from grader import catalogue, kinds, overlays, paths
from grader.authoring.mutation import Mutant, mutants
from grader.kinds import simulated
from grader.kinds.examiner import Examiner, Solver
from grader.task import SimulatedFunction, Task, tier_of

WORLD_ATTRIBUTES: Final = frozenset({"arguments", "cost", "plain_cost", "title", "function", "call", "judge"})
"""Attributes of every simulated scenario. None of them contains the answer, so they are not tried."""

WITHOUT_LOOP: Final = frozenset({"(dropped)", "(ends after its first round)", "while False:"})
"""The descriptions of mutants that lack a loop, or run its body once."""

LONGEST_S: Final = 20.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few seconds."""

CONSTANTS: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.0, 1.0, "", [], {})


class TooLongError(BaseException):
    """A function used more CPU time than its limit. `except Exception` in the function does not catch this error."""


@cache
def leaks(lesson: str) -> tuple[str, ...]:
    """Return a sentence for each piece of code in the student kit that would earn points in a task of this lesson."""
    found = []
    for task in catalogue.load().tasks(lesson):
        draw = kinds.examiner(task, "a draw")
        for name, solver in [] if task.exam.in_c else candidates(task):
            if reached := earned(draw, solver):
                found.append(f"{name} {reached} in {task.full_name}")
    return tuple(found)


def earned(draw: Examiner[Any], solver: Solver) -> str:
    """Return what a function reaches, such as "reaches tier 2 with 3.40×", or "" if it earns no points for it."""
    if mistake_in_time(draw, solver):
        return ""
    if not draw.task.tiers:
        return "is right"
    ratio = draw.ratio(solver)
    return f"reaches tier {tier} with {ratio:.2f}×" if (tier := tier_of(ratio, draw.task.tiers)) else ""


def mistake_in_time(draw: Examiner[Any], solver: Solver) -> str:
    """Return what `draw.mistake` returns, or a text on a function that never ends (not on Windows or in a thread)."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    try:
        older = signal.signal(signal.SIGVTALRM, end)
    except (ValueError, AttributeError):  # not the main thread, or Windows
        return draw.mistake(solver)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        return draw.mistake(solver)
    except TooLongError:
        return "it never ends"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, older)


def right_blind_answers(task: Task) -> Iterator[str]:
    """Yield one sentence for each accepted answer that does not use the task's input, such as "it returns None"."""
    draw = kinds.examiner(task, "a draw")
    for name, blind in [] if task.exam.in_c else blind_solvers(task):
        if not mistake_in_time(draw, blind):
            yield f"a solver that ignores the question is right: it returns {name}"


def blind_solvers(task: Task) -> Iterator[tuple[str, Solver]]:
    """Yield functions that answer test cases without looking at them, each with a description of its answers."""
    other = kinds.examiner(task, "other inputs", timed=0)
    given, right = other.given, other.solver(paths.solution(task.lesson).read_text(encoding="utf-8"))
    with warnings.catch_warnings(action="ignore"):  # torch warns of inputs that cannot be written to
        answers = [right(one) for one in given]
    times = Counter(map(repr, answers))
    most = max(answers, key=lambda answer: times[repr(answer)])
    yield "the most frequent right answer to other inputs", lambda _: most
    yield "right answers to other inputs, in reverse order", _one_by_one(answers[::-1])
    yield "right answers to other inputs, in order", _one_by_one(answers)
    for value in CONSTANTS:
        yield repr(value), partial(_like, value)
    for number in range(max(len(_arguments(one)) for one in given)):
        yield f"argument {number + 1}", partial(_argument, number, 1)
        yield f"argument {number + 1}, backwards", partial(_argument, number, -1)


def _one_by_one(answers: Sequence[Any]) -> Solver:
    left = cycle(answers)
    return lambda _: next(left)


def _like(value: Any, given: Any) -> Any:
    return np.full_like(given[0], value) if isinstance(given, tuple) else value


def _argument(number: int, step: int, given: Any) -> Any:
    return _arguments(given)[number] if step == 1 else _arguments(given)[number][::step]


def _arguments(given: Any) -> Sequence[Any]:
    return given if isinstance(given, tuple) else simulated.arguments_here(given)


def candidates(task: Task) -> Iterator[tuple[str, Solver]]:
    """Yield code in the student kit that could solve a task: its name, and a function that runs it."""
    functions = [each for module in modules(task.folder) for each in _functions(module)]
    draw = kinds.examiner(task, "any", timed=0)
    given, arities = draw.given[0], {len(_arguments(one)) for one in draw.given}
    parsers = [function for _, function in functions if _takes(function, 1)]
    yield from _world_attributes(type(given), parsers)
    for name, function in functions:
        if any(_takes(function, arity) for arity in arities):
            yield name, partial(_applied, function)
    for path in dict.fromkeys(task.baselines):
        source = overlays.whole(path)
        if len(task.baselines) > 1:  # a single baseline would be compared with itself
            yield path.stem, draw.solver(source)
        for one in mutants(source, task.functions[0]):
            if one.was.startswith(("for ", "while ")) and one.now in WITHOUT_LOOP:
                yield f"{path.stem} without its loop in line {one.line}", draw.solver(one.source)


def changed(task: Task) -> Iterator[tuple[Mutant, Callable[[], Iterator[Solver]]]]:
    """Yield each mutant of the kit's code that could solve a task, and a function that returns what the mutant answers.

    The code is each baseline, each function with as many arguments as the student's function, and each kind of
    scenario, together with all definitions of the same file that they use.
    """
    draw = kinds.examiner(task, "any", timed=0)
    scenarios, arities = {type(one) for one in draw.given}, {len(_arguments(one)) for one in draw.given}
    for path in dict.fromkeys(task.baselines):
        for one in mutants(overlays.whole(path), task.functions[0], path.name):
            yield one, partial(_one_solver, draw, one.source)
    for module in modules(task.folder):
        names = [one.__name__ for _, one in _functions(module) if any(_takes(one, arity) for arity in arities)]
        for name in (*names, *(kind.__name__ for kind in scenarios if kind.__module__ == module.__name__)):
            for one in mutants(inspect.getsource(module), name, module.__name__):
                yield one, partial(_changed, module, name, one)


def _one_solver(draw: Examiner[Any], source: str) -> Iterator[Solver]:
    yield draw.solver(source)


def _changed(module: ModuleType, name: str, mutant: Mutant) -> Iterator[Solver]:
    names: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(mutant.source, str(module.__file__), "exec"), names)  # noqa: S102 - it is part of the kit
    if isinstance(names[name], FunctionType):
        yield partial(_applied, names[name])
    else:
        parsers = [found for found in names.values() if isinstance(found, FunctionType) and _takes(found, 1)]
        yield from (solver for _, solver in _world_attributes(names[name], parsers))


def _functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for found in list(vars(module).values()):
        if isinstance(found, FunctionType) and found.__module__ == module.__name__:
            yield f"{module.__name__.rpartition('.')[2]}.{found.__name__}", found


def _applied(function: FunctionType, given: Any) -> Any:
    answer = function(*_arguments(given))
    return np.asarray(answer).astype(given[0].dtype) if isinstance(given, tuple) else answer  # an oracle is float64


def modules(folder: Path) -> Iterator[ModuleType]:
    """Yield the Python modules in a task's folder, and those that all tasks use."""
    for path in (*sorted(paths.TASKS.glob("*.py")), *sorted(folder.glob("*.py"))):
        if path.stem != "__init__":
            yield import_module(".".join(path.relative_to(paths.KIT).with_suffix("").parts))


def _takes(function: FunctionType, arity: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arity))
    except TypeError:
        return False
    return True


def _world_attributes(kind: type, parsers: Sequence[Callable[..., Any]]) -> Iterator[tuple[str, Solver]]:
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        is_method = isinstance(found, FunctionType) and _takes(found, 1) and not name.startswith("__")
        if name not in WORLD_ATTRIBUTES and (is_method or isinstance(found, property | cached_property)):
            yield f"{kind.__name__}.{name}", partial(_attribute, kind, name, parsers)


def _attribute(kind: type, name: str, parsers: Sequence[Callable[..., Any]], scenario: Any) -> Any:
    found = getattr(with_arguments_only(scenario, parsers, kind), name)
    return found() if callable(found) else found


def with_arguments_only(
    scenario: Any, parsers: Sequence[Callable[..., Any]] = (), kind: type[Any] | None = None
) -> Any:
    """Return a copy of a simulated scenario that has only the fields that the student's function receives.

    The copy has the type `kind`, a mutant of the scenario's type. A field is also kept if one of `parsers` computes it
    from an argument, or its items from an argument's items.
    """
    given = [simulated.as_plain(one) for one in scenario.arguments if not isinstance(one, SimulatedFunction)]
    known = [*given, *(found for function in parsers for one in given for found in _converted(function, one))]
    bare = object.__new__(kind or type(scenario))
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if any(_same(value, one) for one in known):
            object.__setattr__(bare, field.name, copy.deepcopy(value))
    return bare


def _converted(function: Callable[..., Any], argument: Any) -> Iterator[Any]:
    with contextlib.suppress(Exception):  # most functions cannot take the argument
        yield simulated.as_plain(function(copy.deepcopy(argument)))
    if isinstance(argument, list):
        with contextlib.suppress(Exception):
            yield [simulated.as_plain(function(copy.deepcopy(item))) for item in argument]


def _same(value: Any, argument: Any) -> bool:
    try:
        return bool(simulated.as_plain(value) == argument)
    except (TypeError, ValueError):  # not a plain value, so it is not an argument
        return False

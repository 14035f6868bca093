"""Find ways to earn points without work: code of the student kit, and answers that ignore the input.

The command `release`, which makes the kit, refuses code that earns points. This code is tried as an answer:

- every property and method of a simulated scenario, on a copy of the scenario that has only the arguments of the
  student's function. If a function of the scenario's module, or of a module for all tasks, parses an argument, the copy
  has the result too,
- every function of the lessons, the harness and the tasks' modules that takes the arguments of the student's function
  (`kit_functions`),
- every function that a baseline in the kit defines, and this function with one of its loops removed. A single baseline
  is not compared with itself.

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
from itertools import cycle
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from grader import catalogue, kinds, overlays, paths
from grader.authoring import kit_functions
from grader.authoring.mutation import Mutant, answers, mutants, used_alone
from grader.kinds import simulated
from grader.kinds.examiner import TIMED, Examiner, Solver
from grader.task import Inputs, SimulatedFunction, Task, TensorExam, tier_of

WORLD_ATTRIBUTES: Final = frozenset({"arguments", "cost", "plain_cost", "title", "function", "call", "judge"})
"""Attributes of every simulated scenario. None of them contains the answer, so they are not tried."""

WITHOUT_LOOP: Final = frozenset({"(dropped)", "(ends after its first round)", "while False:"})
"""The descriptions of mutants that lack a loop, or run its body once."""

LONGEST_S: Final = 10.0
"""CPU seconds after which a function is ended. The slowest baseline takes a few seconds."""

CONSTANTS: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.0, 1.0, "", [], {})


class TooLongError(BaseException):
    """A function used more CPU time than its limit. `except Exception` in the function does not catch this error."""


@cache
def leaks(lesson: str, *, everywhere: bool = True) -> tuple[str, ...]:
    """Return a sentence for each piece of code in the student kit that would earn points in a task of this lesson.

    Without `everywhere`, only the functions of modules in the task's own folder are tried, which takes seconds.
    """
    found = []
    for task in catalogue.load().tasks(lesson):
        draw = drawn(task, "a draw")
        for name, solver in [] if task.exam.in_c else candidates(task, everywhere=everywhere):
            if reached := earned(draw, solver):
                found.append(f"{name} {reached} in {task.full_name}")
    return tuple(found)


def drawn(task: Task, *seed: str, timed: int = TIMED) -> Examiner[Any]:
    """Return a task's examiner, as `kinds.examiner` does, with its right answers, where it keeps them.

    So their computation counts in no limit of time, and child processes need not repeat it.
    """
    draw = kinds.examiner(task, *seed, timed=timed)
    _ = draw.given
    return draw


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
    draw = drawn(task, "a draw")
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


def candidates(task: Task, *, everywhere: bool = True) -> Iterator[tuple[str, Solver]]:
    """Yield code in the student kit that could solve a task: its name, and a function that runs it.

    Without `everywhere`, leave out the functions of modules outside the task's own folder.
    """
    draw = kinds.examiner(task, "any", timed=0)
    kind = type(draw.given[0])
    yield from _world_attributes(kind, _parsers(kind))
    calls, names = _calls(draw), task.functions
    for module in kit_functions.modules() if everywhere else kit_functions.modules(f"grader.tasks.{task.folder.name}"):
        for name, function in kit_functions.functions(module):
            if kit_functions.fits(function, calls):
                yield name, _as_answer(draw, names, function)
    for path in dict.fromkeys(task.baselines):
        for name, source, is_whole in answers(overlays.whole(path), names[0]):
            if len(task.baselines) > 1 or not is_whole:  # a single baseline would be compared with itself
                yield f"{path.stem}.{name}", draw.solver(source)
            for one in mutants(source, names[0]):
                if one.was.startswith(("for ", "while ")) and one.now in WITHOUT_LOOP:
                    yield f"{path.stem}.{name} without its loop in line {one.line}", draw.solver(one.source)


def changed(task: Task) -> Iterator[tuple[Mutant, Callable[[], Iterator[Solver]]]]:
    """Yield each mutant of the kit's code that could solve a task, and a function that returns what the mutant answers.

    The code is each function of a baseline, each function that takes the arguments of the student's function, and each
    kind of scenario, together with all definitions of the same file that they use.
    """
    draw = kinds.examiner(task, "any", timed=0)
    for path in dict.fromkeys(task.baselines):
        for _, source, _ in answers(overlays.whole(path), task.functions[0]):
            for one in mutants(source, task.functions[0], path.name):
                yield one, partial(_one_solver, draw, one.source)
    scenarios, calls = {type(one) for one in draw.given}, _calls(draw)
    for module in kit_functions.modules():
        names = [one.__name__ for _, one in kit_functions.functions(module) if kit_functions.fits(one, calls)]
        for name in (*names, *(kind.__name__ for kind in scenarios if kind.__module__ == module.__name__)):
            for one in mutants(used_alone(inspect.getsource(module), name), name, module.__name__):
                yield one, partial(_changed, draw, module, name, one)


def _one_solver(draw: Examiner[Any], source: str) -> Iterator[Solver]:
    yield draw.solver(source)


def _changed(draw: Examiner[Any], module: ModuleType, name: str, mutant: Mutant) -> Iterator[Solver]:
    names = dict(vars(module))
    exec(compile(mutant.source, str(module.__file__), "exec"), names)  # noqa: S102 - it is part of the kit
    found = names[name]
    if isinstance(found, type):
        own = [one for one in names.values() if isinstance(one, FunctionType) and _takes(one, 1)]
        yield from (solver for _, solver in _world_attributes(found, own))
    else:
        yield _as_answer(draw, draw.task.functions, found)


def _calls(draw: Examiner[Any]) -> list[Sequence[Any]]:
    """Return one list of arguments of the student's function for each combination of their types."""
    every = map(_arguments, draw.given)
    return list({tuple(map(type, arguments)): arguments for arguments in every}.values())


def _as_answer(draw: Examiner[Any], names: Sequence[str], function: Callable[..., Any]) -> Solver:
    """Return a solver that calls a function of the kit as the student's function. Oracles get NumPy arrays."""
    if isinstance(draw.task.exam, TensorExam) and function.__module__.startswith("grader."):
        return partial(_of_arrays, function)
    return draw.bound(dict.fromkeys(names, function))


def _of_arrays(function: Callable[..., Any], given: Inputs) -> Any:
    return np.asarray(function(*given)).astype(given[0].dtype)  # an oracle is float64


def _parsers(kind: type) -> list[Callable[..., Any]]:
    """Return the functions of one argument beside this kind of scenario, and those for all tasks."""
    near = kit_functions.modules(kind.__module__.rpartition(".")[0], "grader.tasks")
    return [function for module in near for _, function in kit_functions.functions(module) if _takes(function, 1)]


def _takes(function: Callable[..., Any], arity: int) -> bool:
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

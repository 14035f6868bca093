"""Find code in the student kit that a student could copy and hand in to earn points.

The command `release`, which makes the kit, refuses such code. This code is tried as an answer:

- every property and method of a simulated scenario, on a copy of the scenario that has only the arguments of the
  student's function. If a function of the task's modules parses an argument, the copy has the result too,
- every function of the task's modules that takes as many arguments as the student's function,
- every baseline in the kit with one of its loops removed,
- every baseline for a single size, unchanged.

In a task without speed thresholds, no code may be right. In other tasks, no code may reach a threshold. In a task that
is solved in C, only the baseline without one of its loops is tried. It may crash, so it runs in a process of its own.
Without a C compiler, it is not tried.
"""

import ast
import contextlib
import copy
import dataclasses
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from grader import catalogue, overlays
from grader.authoring import c_loops, forked, in_process
from grader.authoring.in_process import Bench, Solver, Worth
from grader.task import SimulatedFunction, Task, TensorExam
from grader.trials import native, simulated
from harness import syntax

WORLD_ATTRIBUTES: Final = frozenset({"arguments", "cost", "plain_cost", "title", "function", "call", "judge"})
"""Attributes of every simulated scenario. None of them contains the answer, so they are not tried."""

RECORDERS: Final = frozenset({"record"})
"""Modules that record test data. They are not tried, because they start programs."""

WALL_S: Final = 120.0
"""Seconds after which a process that runs changed C code is ended."""

Candidate = tuple[str, Solver]
"""The name of some code in the student kit, and a function that answers a task's test cases with this code."""


@cache
def leaks(lesson: str) -> tuple[str, ...]:
    """Return a sentence for each piece of code in the student kit that would earn points in a task of this lesson."""
    found = []
    for task in catalogue.load().tasks(lesson):
        for name, worth in _worths(task):
            if in_process.earns(task, worth):
                reached = f"reaches tier {worth.tier} with {worth.ratio:.2f}×" if task.tiers else "is right"
                found.append(f"{name} {reached} in {task.full_name}")
    return tuple(found)


def _worths(task: Task) -> Iterator[tuple[str, Worth]]:
    """Yield the name and the estimated grade of each piece of code in the kit."""
    bench = in_process.Bench(task)
    if not native.is_native(task):
        yield from ((name, bench.worth(solver)) for name, solver in candidates(task))
    elif native.compiler() and hasattr(os, "fork"):
        yield from c_worths(task, bench)


def c_worths(task: Task, bench: Bench) -> Iterator[tuple[str, Worth]]:
    """Yield the name and the estimated grade of each baseline in C without one of its loops. Leave out wrong code."""
    found = [
        (f"{path.stem} without its loop in line {line}", changed)
        for path in dict.fromkeys(task.baselines)
        for line, changed in c_loops.without_loops(overlays.whole(path))
    ]

    def work(item: tuple[str, str], tell: forked.Tell) -> None:
        forked.end_after(in_process.LONGEST_S)
        worth = bench.worth(in_process.of_source(task, item[1]))
        tell(f"{worth.right:d} {worth.ratio} {worth.tier}")

    for ended in forked.each(found, work, 1, WALL_S):
        for right, ratio, tier in map(str.split, ended.lines):
            yield ended.item[0], Worth(right == "1", float(ratio), int(tier))


def candidates(task: Task) -> Iterator[Candidate]:
    """Yield code in the student kit that could solve a task: its name, and a function that runs it."""
    if isinstance(task.exam, TensorExam):
        inputs = task.exam.cases(np.random.default_rng(0))[0]
        yield from _functions(task, len(inputs), tuple)
    else:
        scenario = task.exam.scenarios(np.random.default_rng(0))[0]
        yield from _world_attributes(type(scenario), _converters(task))
        yield from _functions(task, len(scenario.arguments), simulated.arguments_here)
    for path in dict.fromkeys(task.baselines):
        source = overlays.whole(path)
        if len(task.baselines) > 1:  # a single baseline would be compared with itself
            yield path.stem, in_process.of_source(task, source)
        for line, changed in without_loops(source):
            yield f"{path.stem} without its loop in line {line}", in_process.of_source(task, changed)


def _functions(task: Task, arity: int, arguments: Callable[[Any], Iterable[Any]]) -> Iterator[Candidate]:
    for where, function in _own_functions(task):
        if _takes(function, arity):
            yield where, _applied(function, arguments)


def _own_functions(task: Task) -> Iterator[tuple[str, FunctionType]]:
    for module in modules(task.folder):
        own = (found for found in vars(module).values() if getattr(found, "__module__", "") == module.__name__)
        for function in own:
            if isinstance(function, FunctionType):
                yield f"{module.__name__.rpartition('.')[2]}.{function.__name__}", function


def _applied(function: FunctionType, arguments: Callable[[Any], Iterable[Any]]) -> Solver:
    return lambda item: function(*arguments(item))


def modules(folder: Path) -> Iterator[ModuleType]:
    """Yield the Python modules in a task's folder, without those that record test data."""
    for path in sorted(folder.glob("*.py")):
        if path.stem not in {"__init__", *RECORDERS}:
            yield import_module(f"grader.tasks.{folder.name}.{path.stem}")


def _takes(function: FunctionType, arity: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arity))
    except TypeError:
        return False
    return True


def _world_attributes(kind: type, converters: Sequence[Callable[..., Any]]) -> Iterator[Candidate]:
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        is_method = isinstance(found, FunctionType) and _takes(found, 1) and not name.startswith("__")
        if name not in WORLD_ATTRIBUTES and (is_method or isinstance(found, property | cached_property)):
            yield f"{kind.__name__}.{name}", _attribute_solver(name, converters)


def _attribute_solver(name: str, converters: Sequence[Callable[..., Any]]) -> Solver:
    def solver(scenario: Any) -> Any:
        found = getattr(with_arguments_only(scenario, converters), name)
        return found() if callable(found) else found

    return solver


def _converters(task: Task) -> list[FunctionType]:
    """Return the functions of a task's modules that take one argument. One of them may parse a student's argument."""
    return [function for _, function in _own_functions(task) if _takes(function, 1)]


def with_arguments_only(scenario: Any, converters: Sequence[Callable[..., Any]] = ()) -> Any:
    """Return a copy of a simulated scenario that has only the fields that the student's function receives.

    A field is also kept if one of `converters` computes it from an argument, or its items from an argument's items.
    """
    given = [simulated.as_plain(one) for one in scenario.arguments if not isinstance(one, SimulatedFunction)]
    known = [*given, *(found for function in converters for one in given for found in _converted(function, one))]
    bare = object.__new__(type(scenario))
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if any(_same(value, one) for one in known):
            object.__setattr__(bare, field.name, copy.deepcopy(value))
    return bare


def _converted(function: Callable[..., Any], argument: Any) -> Iterator[Any]:
    """Yield what a function returns for an argument, and the list of what it returns for the argument's items."""
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


def without_loops(source: str) -> Iterator[tuple[int, str]]:
    """Yield two changed texts for each loop of a source text, each with the line of the loop.

    The first text lacks the loop. The second text runs the loop's body once.
    """
    tree = syntax.parse(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    for number, loop in enumerate(loops):
        for once in (False, True):
            changed = copy.deepcopy(tree)
            twin = [node for node in ast.walk(changed) if isinstance(node, ast.For | ast.While)][number]
            yield loop.lineno, ast.unparse(ast.fix_missing_locations(_Replaced(twin, once=once).visit(changed)))


class _Replaced(ast.NodeTransformer):
    """Removes one loop from a syntax tree. If `once` is set, the loop's body is kept and runs once."""

    def __init__(self, loop: ast.stmt, *, once: bool) -> None:
        self._loop, self._once = loop, once

    def generic_visit(self, node: ast.AST) -> Any:
        if node is not self._loop:
            return super().generic_visit(node)
        if not self._once:
            return ast.Pass()
        assert isinstance(node, ast.For | ast.While)
        body = [part for part in node.body if not isinstance(part, ast.Break | ast.Continue)] or [ast.Pass()]
        if isinstance(node, ast.While):
            return body
        first = ast.Call(ast.Name("next", ast.Load()), [ast.Call(ast.Name("iter", ast.Load()), [node.iter], [])], [])
        return [ast.Assign([node.target], first), *body]

"""What a student can lift from the kit: code that says what is right, and baselines, tried out as hand-ins.

`release` refuses a kit in which one of these earns points: full marks where a task has no tiers, else a tier. Tried are

- what a world of the task knows, in a copy of the world that has nothing but the function's arguments,
- every function of the task's modules that takes as many arguments, oracles among them,
- every baseline that is released without one of its loops, and those of single sizes as they are.

What is written in C is not tried: oracles of such a task are Python, which is no hand-in there.
"""

import ast
import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from grader import catalogue
from grader.task import Metered, Task, TensorExam
from grader.trials import in_process, metered
from grader.trials.in_process import Solver

PROTOCOL: Final = frozenset({"arguments", "cost", "plain_cost", "title", "function", "call", "judge"})
"""What each world has; it answers nothing."""

MAKERS: Final = frozenset({"record"})
"""Modules that record what a task is drawn from. They start programs, and nothing imports them."""

Candidate = tuple[str, Solver]
"""Where it stands in the kit, and what it would answer."""


@cache
def leaks(lesson: str) -> tuple[str, ...]:
    """Return a sentence for each thing in the kit that earns points as a hand-in for a task of this lesson."""
    found = []
    for task in catalogue.load().tasks(lesson):
        bench = in_process.Bench(task)
        for name, solver in candidates(task):
            worth = bench.worth(solver)
            if in_process.earns(task, worth):
                reached = f"reaches tier {worth.tier} at {worth.ratio:.2f}×" if task.tiers else "is right"
                found.append(f"{name} {reached} in {task.full_name}")
    return tuple(found)


def candidates(task: Task) -> Iterator[Candidate]:
    """Yield all that can be lifted for a task."""
    if isinstance(task.exam, TensorExam):
        if task.exam.in_c:
            return
        inputs = task.exam.cases(np.random.default_rng(0))[0]
        yield from _functions(task, len(inputs), tuple)
    else:
        world = task.exam.scenarios(np.random.default_rng(0))[0]
        yield from _knowledge(type(world))
        yield from _functions(task, len(world.arguments), metered.arguments_here)
    for path in dict.fromkeys(task.baselines):
        source = path.read_text(encoding="utf-8")
        if len(task.baselines) > 1:  # a single one is compared with itself
            yield path.stem, in_process.of_source(task, source)
        for line, changed in without_loops(source):
            yield f"{path.stem} without its loop in line {line}", in_process.of_source(task, changed)


def _functions(task: Task, arity: int, arguments: Callable[[Any], Iterable[Any]]) -> Iterator[Candidate]:
    """Yield the functions of the task's modules that take so many arguments; `arguments` makes them of an item."""
    for module in modules(task.folder):
        own = (found for found in vars(module).values() if getattr(found, "__module__", "") == module.__name__)
        for function in own:
            if isinstance(function, FunctionType) and _takes(function, arity):
                where = f"{module.__name__.rpartition('.')[2]}.{function.__name__}"
                yield where, _applied(function, arguments)


def _applied(function: FunctionType, arguments: Callable[[Any], Iterable[Any]]) -> Solver:
    return lambda item: function(*arguments(item))


def modules(folder: Path) -> Iterator[ModuleType]:
    """Yield the modules of a task's folder, but those that make recordings."""
    for path in sorted(folder.glob("*.py")):
        if path.stem not in {"__init__", *MAKERS}:
            yield import_module(f"grader.tasks.{folder.name}.{path.stem}")


def _takes(function: FunctionType, arity: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arity))
    except TypeError:
        return False
    return True


def _knowledge(kind: type) -> Iterator[Candidate]:
    """Yield what a world of this type says when it has nothing but what the function is given."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        is_method = isinstance(found, FunctionType) and _takes(found, 1) and not name.startswith("__")
        if name not in PROTOCOL and (is_method or isinstance(found, property | cached_property)):
            yield f"{kind.__name__}.{name}", _told(name)


def _told(name: str) -> Solver:
    def solver(world: Any) -> Any:
        found = getattr(stripped(world), name)
        return found() if callable(found) else found

    return solver


def stripped(world: Any) -> Any:
    """Return a copy of a world with those of its fields alone that are among the function's arguments."""
    given = [metered.as_plain(one) for one in world.arguments if not isinstance(one, Metered)]
    bare = object.__new__(type(world))
    for field in dataclasses.fields(world):
        value = getattr(world, field.name)
        if any(_same(value, argument) for argument in given):
            object.__setattr__(bare, field.name, copy.deepcopy(value))
    return bare


def _same(value: Any, argument: Any) -> bool:
    try:
        return bool(metered.as_plain(value) == argument)
    except (TypeError, ValueError):  # it is no plain value, so it was not given
        return False


def without_loops(source: str) -> Iterator[tuple[int, str]]:
    """Yield each loop's line and the source text without it: the loop gone, or what it repeats done once."""
    tree = ast.parse(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    for number, loop in enumerate(loops):
        for once in (False, True):
            changed = copy.deepcopy(tree)
            twin = [node for node in ast.walk(changed) if isinstance(node, ast.For | ast.While)][number]
            yield loop.lineno, ast.unparse(ast.fix_missing_locations(_Replaced(twin, once=once).visit(changed)))


class _Replaced(ast.NodeTransformer):
    """Replaces one loop by nothing, or by one round of it."""

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

"""Find the functions of the student kit that could solve a task: its lessons, the harness and all tasks' modules.

The other modules of the grader are not searched. They grade submissions, and some of them act when they are imported.
"""

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import numpy as np

from grader import paths

SEARCHED: Final = ("lessons/**/*.py", "harness/**/*.py", "grader/tasks/**/*.py")
"""The files of the kit whose functions are tried. They can be imported without effects."""

LEFT_OUT: Final = frozenset({"known", "exercises", "guide", "compilers", "callgrind", "storage", "gate"})
"""Folders whose functions are not tried: known submissions (baselines are tried apart), stubs, the teacher's pack, and
functions that compile, start or store their arguments, or that pytest calls.
"""

ALSO: Final = {float: int, tuple: list}
"""Annotated types that JSON replaces: an argument of the other type fits them too."""


def modules(*packages: str) -> Iterator[ModuleType]:
    """Yield the Python modules of these packages, or of all, whose functions could solve a task."""
    found = sorted(chain.from_iterable(map(paths.KIT.glob, SEARCHED)))
    for path in (each.relative_to(paths.KIT) for each in found):
        chosen = not packages or ".".join(path.parent.parts) in packages
        if chosen and not path.stem.startswith("__") and not LEFT_OUT & set(path.parts):
            yield import_module(".".join(path.with_suffix("").parts))


def functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions that a module defines, each with its name, such as "units.seconds"."""
    for found in list(vars(module).values()):
        if isinstance(inspect.unwrap(found), FunctionType) and found.__module__ == module.__name__:
            yield f"{module.__name__.rpartition('.')[2]}.{found.__name__}", found


def fits(function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> bool:
    """Return whether a function takes the arguments of one of these calls, by their number and its annotations."""
    signature, hints = inspect.signature(function), _hints(function)
    for arguments in calls:
        try:
            bound = signature.bind(*arguments).arguments
        except TypeError:
            continue
        rests = {name for name, one in signature.parameters.items() if one.kind is inspect.Parameter.VAR_POSITIONAL}
        given = ((name, each) for name, one in bound.items() for each in (one if name in rests else [one]))
        if all(_suits(hints.get(name, Any), each) for name, each in given):
            return True
    return False


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except NameError:  # a type that only type checkers import
        return {}


def _suits(hint: Any, argument: Any) -> bool:
    if get_origin(hint) in {Union, types.UnionType}:
        return any(_suits(one, argument) for one in get_args(hint))
    kind = get_origin(hint) or hint
    if isinstance(argument, np.ndarray) and getattr(kind, "__name__", "") == "Tensor":
        return True
    try:
        return isinstance(argument, (kind, ALSO.get(kind, kind)))
    except TypeError:  # a type that cannot be checked, such as Any
        return True

"""Notice code that keeps state: a call changes data that later calls use, so not all calls cost the same.

Examples are an iterator that the first call consumes, a list that grows or is sorted in place, and a cache. The first
call of other code is slow too, for example because it compiles. So a slow first call alone is no sign: it must also
have changed a variable that the code uses.
"""

import functools
import inspect
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from statistics import median
from types import ModuleType
from typing import Final

from harness.paired.rounds import Round, by_pair
from harness.rendering import units

SIDES: Final = ("baseline", "candidate")
FIRST_TIMES: Final = 3.0
FIRST_EXTRA_S: Final = 20e-6
"""The first call is slow if it takes this many times as long as a later call, and this many seconds longer. About 8 µs
of them are due to the measurement itself."""

CHANGED_DRIFT: Final = 1.5
DRIFT: Final = 3.0
"""The cost of calls drifts if late calls take this many times as long as early ones, or early ones as late ones. The
first limit is for code that changes a variable, the second for other code, because a machine's speed drifts too."""

_ITEMS, _DEPTH = 16, 2  # the compared content of a variable: at most so many items and levels, and no arrays
_SIMPLE: Final = (int, float, complex, str, bytes, type(None), ModuleType)
_CONTAINERS: Final = (list, tuple, dict, set, deque)


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The seconds of the first call, and the names of the variables that it changed."""

    seconds: float
    changed: tuple[str, ...] = ()


def contents(variables: Mapping[str, object]) -> dict[str, object]:
    """Return the contents of variables for comparisons by `==`, and of the variables that functions among them use."""
    found, seen = dict(variables), dict[str, object]()
    for function in filter(callable, variables.values()):
        with suppress(Exception):  # the attributes of an object may raise any exception
            own = _variables(function)
            for helper in filter(callable, [*own.values()]):
                own = _variables(helper) | own
            found = own | found
    for name, value in found.items():
        with suppress(Exception):
            seen[name] = _content(value)
    return seen


def describe(first_calls: Sequence[FirstCall], rounds: Sequence[Round], *, by_wall: bool) -> str:
    """Return a sentence for each side whose cost changes with the number of calls, or "" if it does not.

    `first_calls` are those of the baseline and of the candidate. With `by_wall`, the costs are wall times.
    """
    found = ((side, _difference(side, first, rounds, by_wall)) for side, first in zip(SIDES, first_calls, strict=True))
    return " ".join(f"The cost of the {side} depends on the number of its calls{how}." for side, how in found if how)


def changed_names(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the variables whose contents differ."""
    return tuple(name for name in before if name in after and before[name] != after[name])


def _difference(side: str, first: FirstCall, rounds: Sequence[Round], by_wall: bool) -> str:
    pairs = [[getattr(one, side).call_s(by_wall=by_wall) for one in played] for played in by_pair(rounds).values()]
    in_order = [getattr(one, side).call_s(by_wall=by_wall) for one in rounds]
    drift = max(_late_by_early(in_order), median(map(_late_by_early, pairs)), key=lambda ratio: max(ratio, 1 / ratio))
    times, usual_s = max(drift, 1 / drift), median(in_order)
    changes = f", which change `{units.few(first.changed, 3, '`, `')}`" if first.changed else ""
    if times >= (CHANGED_DRIFT if first.changed else DRIFT):
        slow, fast = ("late", "early")[:: 1 if drift > 1 else -1]
        return f"{changes}: its {slow} calls took {units.ratio(times, 2)} as long as the {fast} ones"
    if first.changed and first.seconds > max(FIRST_TIMES * usual_s, usual_s + FIRST_EXTRA_S):
        return f"{changes}: its first call took {units.ratio(first.seconds / usual_s, 2)} as long as later ones"
    return ""


def _late_by_early(call_s: Sequence[float]) -> float:
    part = max(1, len(call_s) // 4)
    return median(call_s[-part:]) / median(call_s[:part])


def _variables(code: object) -> dict[str, object]:
    """Return the variables that a function uses: those of its object, its arguments, its closure and its module."""
    found: dict[str, object] = {}
    if isinstance(code, functools.partial):
        found = {f"argument {n}": value for n, value in enumerate(code.args, 1)} | code.keywords | _variables(code.func)
    with suppress(ValueError):  # functions in a circle
        code = inspect.unwrap(code)  # type: ignore[arg-type]
    if (own := getattr(code, "__self__", None)) is not None:
        found[f"its {type(own).__name__}"] = own
    function = getattr(code, "__func__", code)
    if inspect.isfunction(function):
        used = inspect.getclosurevars(function)
        found |= {**used.globals, **used.nonlocals, "a default value": function.__defaults__}
    return found


def _content(value: object, depth: int = _DEPTH) -> object:
    """Return an object that differs, compared by `==`, after most changes of a value."""
    if isinstance(value, _SIMPLE):
        return value
    if isinstance(value, Iterator):
        return object()  # it differs from every other object: code uses an iterator only to take items from it
    parts: list[object] = [type(value)]
    items: object = ()
    if hasattr(type(value), "cache_info"):
        parts.append(value.cache_info().misses)  # type: ignore[attr-defined]
    if isinstance(value, _CONTAINERS):
        parts.append(len(value))
        items = value.items() if isinstance(value, dict) else value
    elif hasattr(value, "__dict__") and not hasattr(value, "__wrapped__"):  # as compilers of functions have
        items = vars(value).items()
    if depth:
        parts += [_content(item, depth - 1) for item in islice(items, _ITEMS)]  # type: ignore[call-overload]
    return parts

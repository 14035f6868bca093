"""What a profiler has found, as plain rows: pure, from Python's own profile data (`pstats`)."""

import cProfile
import math
import pstats
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

Key = tuple[str, int, str]
"""A function as pstats knows it: file, line, name."""

QUOTE = "'"

_Callers = dict[Key, tuple[int, int, float, float] | int]
"""By caller: calls, outer calls (in this order), own and cumulative seconds; from `profile`, calls alone."""

_Entry = tuple[int, int, float, float, _Callers]


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a profile. Times are in seconds.

    `calls` counts all calls, `outer_calls` those made while no other call of the function was open. `own_s` is the time
    between its own first and last steps less that of what it called, `cumulative_s` the time with it, of outer calls.
    `callers` holds by name how often each called it, and the cumulative seconds of these calls (NaN from `profile`,
    which does not keep them).
    """

    name: str
    file: str
    calls: int
    outer_calls: int
    own_s: float
    cumulative_s: float
    callers: dict[str, tuple[int, float]]

    @property
    def ncalls(self) -> str:
        """The calls as pstats prints them: "8", or "177/1" where a function called itself."""
        return str(self.calls) if self.calls == self.outer_calls else f"{self.calls}/{self.outer_calls}"


def rows(profile: cProfile.Profile | pstats.Stats | Path) -> tuple[Function, ...]:
    """Return every function of a profile, or of a file that one was saved to; most own time first."""
    stats = profile if isinstance(profile, pstats.Stats) else pstats.Stats(_source(profile))
    entries = cast("dict[Key, _Entry]", vars(stats)["stats"])
    found = [
        Function(
            name=_name(key),
            file=key[0],
            calls=calls,
            outer_calls=outer_calls,
            own_s=own_s,
            cumulative_s=cumulative_s,
            callers=_by_name(callers),
        )
        for key, (outer_calls, calls, own_s, cumulative_s, callers) in entries.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.own_s, each.name)))


def of_one_thread(functions: Sequence[Function]) -> bool:
    """Return whether the profile of a script holds the calls of one thread alone.

    From Python 3.12 on, cProfile records the calls of all threads in one stack. A return of another thread then ends a
    call of ours: the script seems to begin more than once, or not at all, or an own time is below 0.
    """
    whole = [each.calls for each in functions if each.name == "<module>"]
    return whole == [1] and all(each.own_s >= 0 for each in functions)


def _by_name(callers: _Callers) -> dict[str, tuple[int, float]]:
    """Calls and cumulative seconds for each caller; several of one name are added up."""
    added: dict[str, tuple[int, float]] = {}
    for key, times in callers.items():
        calls, cumulative_s = (times, math.nan) if isinstance(times, int) else (times[0], times[3])
        before = added.get(_name(key), (0, 0.0))
        added[_name(key)] = before[0] + calls, before[1] + cumulative_s
    return added


def _source(profile: cProfile.Profile | Path) -> cProfile.Profile | str:
    return str(profile) if isinstance(profile, Path) else profile


def _name(key: Key) -> str:
    """A function's name; that of a builtin without what pstats wraps around it."""
    name: object = key[2]
    if not isinstance(name, str):
        return key[0]  # the profiler written in Python puts the code that it was given there
    if name.startswith("<built-in method "):
        return name.removeprefix("<built-in method ").removesuffix(">")
    if name.startswith("<method '"):
        method, _, owner = name.removeprefix("<method '").partition("' of '")
        return f"{owner.split(QUOTE)[0]}.{method}"
    return name

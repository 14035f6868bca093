"""Profiles as rows, and scripts under Python's two profilers."""

import math
import pstats
from typing import Any

import pytest

from harness.errors import UsageError
from harness.profiles import ProfiledFunction, of_one_thread, rows, run_script
from harness.profiles.stats import run_module

SCRIPT = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def twice(n):
    return fib(n) + max(n, 0)

print(twice(10) + fib(3))
"""


def named(functions: tuple[ProfiledFunction, ...], name: str) -> ProfiledFunction:
    return next(each for each in functions if each.name == name)


def planted(entries: dict[tuple[str, int, Any], tuple[Any, ...]]) -> pstats.Stats:
    stats = pstats.Stats()
    vars(stats)["stats"] = entries
    return stats


def test_recursive_calls_are_counted_apart_from_outer_calls() -> None:
    ran = run_script(SCRIPT, "cProfile", "-o", "FILE")
    fib = named(ran.functions, "fib")
    assert (fib.calls, fib.outer_calls, fib.ncalls) == (177 + 5, 2, "182/2")
    assert {caller: calls for caller, (calls, _) in fib.callers.items()} == {"fib": 180, "twice": 1, "<module>": 1}
    assert named(ran.functions, "twice").ncalls == "1"
    assert ran.printed == "67\n"
    own_s = [each.own_s for each in ran.functions]
    assert own_s == sorted(own_s, reverse=True)


def test_a_profile_with_calls_of_another_thread_is_recognised() -> None:
    """Three profiles that Python 3.14 recorded: one alone, two while another thread was busy."""

    def recorded(name: str, calls: int, own_s: float) -> ProfiledFunction:
        return ProfiledFunction(name, "<string>", calls, 1, own_s, 0.02, {})

    alone = (recorded("<module>", 1, 3e-05), recorded("main", 1, 6e-06))
    began_twice = (recorded("<module>", 2, 6e-04), recorded("main", 1, -1.28))
    gone = (recorded("main", 1, 6e-06),)
    assert [of_one_thread(each) for each in (alone, began_twice, gone)] == [True, False, False]


def test_a_builtin_has_its_short_name_and_callers_of_one_name_are_added_up() -> None:
    a, b = ("~", 0, "<built-in method builtins.max>"), ("~", 0, "<method 'strip' of 'str' objects>")
    found = rows(planted({a: (1, 1, 0.5, 0.5, {}), b: (2, 2, 1.0, 1.0, {a: (2, 2, 1.0, 1.0)})}))
    assert [each.name for each in found] == ["str.strip", "builtins.max"]
    assert found[0].callers == {"builtins.max": (2, 1.0)}
    callers = {("b.py", 3, "main"): (2, 1, 0.1, 0.25), ("c.py", 9, "main"): (1, 1, 0.2, 0.5)}
    (load,) = rows(planted({("a.py", 1, "load"): (2, 3, 0.3, 0.75, callers)}))
    assert load.callers == {"main": (3, 0.75)}


def test_the_module_profile_keeps_calls_of_callers_without_times() -> None:
    mine, other = (run_script(SCRIPT, name, "-o", "FILE").functions for name in ("profile", "cProfile"))
    assert named(mine, "fib").ncalls == named(other, "fib").ncalls
    calls, cumulative_s = named(mine, "fib").callers["twice"]
    assert calls == 1
    assert math.isnan(cumulative_s)


def test_the_error_for_a_script_that_fails_or_hangs_says_so() -> None:
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        run_script("1 / 0", "cProfile")
    with pytest.raises(UsageError, match="ran longer than"):
        run_module("timeit", "while True: pass", timeout_s=0.5)

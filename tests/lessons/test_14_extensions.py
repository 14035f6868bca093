"""Tests of the explanations of lesson 14, for made-up results and for machines without a compiler."""

from typing import Any

import pytest
from sessions import MadeUp

from harness.machine.background_load import HIGH_LOAD, BackgroundLoad

LESSON = MadeUp("14_extensions")
NO_GCC = "a C compiler is missing: apt-get install gcc"
WAYS = ("extension", "extension, released", "ctypes.PyDLL", "ctypes.CDLL")


def built() -> Any:
    """Return a result of the first step, which later steps use."""
    times = {"compile": 0.2, "import": 1e-3, "first call": 1e-4}
    return LESSON.Built(times, 0, [60.0] * 9, "builtin_function_or_method", False)


def check(step: str, result: object, expected: str | dict[str, str], *words: str) -> None:
    LESSON.check(step, result, expected, *words, a_module_in_c=built())


def standings(step: str, result: object, first: object = None) -> dict[str, str]:
    found: dict[str, str] = LESSON.explained(step, result, a_module_in_c=first)[1]
    return found


def test_without_a_compiler_a_step_says_what_it_would_have_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "lacking", lambda **_: NO_GCC)
    for step in (
        *("a_module_in_c", "one_part_broken", "an_extension_is_no_jit"),
        *("c_without_python", "price_of_a_call", "held_or_released"),
    ):
        assert getattr(LESSON, step)() is None
        check(step, None, "skipped", "apt-get install gcc", "If nothing is missing, this step shows")
    monkeypatch.setattr(LESSON.module, "lacking_cpp", lambda: "a C++ compiler is missing: apt-get install g++")
    for step in ("from_cpp", "timed_in_both"):
        check(step, getattr(LESSON, step)(), "skipped", "apt-get install g++")
    monkeypatch.setattr(LESSON.module, "lacking_cpp", lambda: "")
    monkeypatch.setattr(LESSON.module, "compiled_before", lambda _: False)
    for step in ("from_cpp", "timed_in_both"):  # a short run compiles none of torch's headers
        assert "without --fast" in getattr(LESSON, step).function(compiling=0)


def spins(*ran: str, second: tuple[int, float] = (90, 0.5), others: float = 0.0) -> dict[str, Any]:
    """Return the counts of a second thread. It ran during the calls in these ways."""
    load = BackgroundLoad(others)
    return {way: LESSON.Spins(*(second if way in ran else (0, 1.0)), 1.0, load) for way in WAYS}


def test_two_threads_are_judged_where_nobody_else_uses_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "CORES", 2)
    for others, together in ((0.1, "held"), (HIGH_LOAD, "inconclusive")):
        found = standings("held_or_released", spins("extension, released", "ctypes.CDLL", others=others), built())
        assert (found.pop("released-at-once"), found.pop("held-in-turn")) == (together, together)
        assert set(found.values()) == {"held"}
    wrong_way_round, unclear = spins("extension", "ctypes.PyDLL"), "This run gives no clear answer"
    printed, found = LESSON.explained("held_or_released", wrong_way_round, a_module_in_c=built())
    assert set(found.values()) == {"refuted"}
    assert unclear in printed
    monkeypatch.setattr(LESSON.module, "CORES", 1)
    check("held_or_released", spins(), {"released-at-once": "skipped"})
    monkeypatch.setattr(LESSON.module, "has_gil", lambda: False)
    check("held_or_released", spins(*WAYS), "skipped", "without the GIL")

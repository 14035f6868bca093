"""Tests of the explanations of lesson 18, for made-up results."""

import sys
from typing import Any

import pytest
from sessions import MadeUp

from harness.threads.accesses import ThreadEvent
from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn

LESSON = MadeUp("18_threads")
UNCLEAR = "no clear answer"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "CORES", 2)
    needed = "needs a free-threaded Python: uv python install 3.14t."
    monkeypatch.setattr(LESSON.module, "lacking_free_threaded", lambda: needed)


def turns(threads: float, *, share: float = 0.98, number: int = 6) -> list[ScalingTurn]:
    """Return turns in which two threads reach this part of the calls of two processes."""
    return [ScalingTurn(2, 100.0, 190.0 * threads * (1 + 0.01 * each), 190.0, share, share) for each in range(number)]


def measured(share: float = 0.98, **threads: float) -> Any:
    return LESSON.Measured("Python 3.14.2t", {name: turns(part, share=share) for name, part in threads.items()})


def four(wait: float, hash_data: float, add_up: float, fill_table: float, share: float = 0.98) -> Any:
    return measured(share, wait=wait, hash_data=hash_data, add_up=add_up, fill_table=fill_table)


def test_threads_with_the_lock_are_compared_with_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    step, usual = "with_the_lock", four(0.98, 0.97, 0.5, 0.5)
    LESSON.check(step, usual, "held", "wait and hash_data.", "Its two threads take turns")
    LESSON.check(step, four(0.4, 0.5, 0.98, 0.5), "refuted", UNCLEAR, "execute Python code at the same time")
    LESSON.check(step, four(0.98, 0.97, 0.5, 0.5, share=0.2), "inconclusive", UNCLEAR, "does not show")
    for part in (0.69, 0.7):  # near the limit
        LESSON.check(step, four(0.98, 0.97, part, 0.5), {"python-in-turn": "inconclusive"})
    LESSON.check(step, None, "skipped", "If nothing is missing, this step shows")
    monkeypatch.setattr(LESSON.module, "CORES", 1)
    LESSON.check(step, usual, "skipped")


def test_without_the_build_that_it_needs_a_step_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "lacking_interpreters", lambda: "needs Python 3.14t or another one.")
    for step in ("without_the_lock", "what_is_in_turn", "other_workers"):
        LESSON.check(step, None, "skipped", "3.14t", "If nothing is missing, this step shows")


def lost(line: int, call: int, cores: float = 1.9) -> Any:
    return LESSON.Counted({"in_one_line": [line] * 4, "through_a_call": [0, call]}, cores)


def test_lost_updates_with_and_without_the_lock() -> None:
    """Threads that never ran at the same time show nothing."""
    for usual, answer, call_loses, lucky in (
        (lost(0, 900), "Only through_a_call.", "held", "held"),
        (lost(3, 900), "Both.", "held", "refuted"),
        (lost(0, 0), UNCLEAR, "inconclusive", "held"),
        (None, UNCLEAR, "skipped", "skipped"),
    ):
        wanted = {"call-loses": call_loses, "line-is-lucky": lucky, "line-loses": "skipped"}
        LESSON.check("lost_updates", LESSON.Lost(usual, None), wanted, answer)
    for line, cores, standing in ((90_000, 1.9, "held"), (3, 1.9, "refuted"), (0, 0.9, "inconclusive")):
        found = LESSON.Lost(lost(0, 900), lost(line, 900, cores))
        LESSON.check("lost_updates", found, {"line-loses": standing})


def test_recorded_accesses_without_a_lock() -> None:
    events = [ThreadEvent("first", "write", "hits", ()), ThreadEvent("first", "write", "total", ("lock",))]
    for hits, words in ((4, "they seldom run at the same time"), (3, "hits is 3 and total is 4")):
        LESSON.check("lost_nothing", LESSON.Watched(events, hits, 4), "held", words, "Yes, whatever the result is.")
    LESSON.check("lost_nothing", LESSON.Watched(events[1:], 4, 4), {"hits-unprotected": "inconclusive"})
    found = LESSON.lost_nothing()
    assert found.total == 4
    assert {event.thread for event in found.events if event.name == "hits"} == {"first", "second"}


@pytest.mark.parametrize("step", ["with_the_lock", "without_the_lock", "what_is_in_turn", "lost_updates"])
def test_a_step_runs_in_each_build_that_is_found(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    here = PythonBuild(sys.executable, "3.14.2", gil=True)
    monkeypatch.setattr(LESSON.module, "usual", lambda: here)
    monkeypatch.setattr(LESSON.module, "free_threaded", lambda: here)
    found: Any = getattr(LESSON, step).function(turns=1)
    if step == "lost_updates":
        assert found.usual.lost.keys() == found.free.lost.keys() == {"in_one_line", "through_a_call"}
    else:
        assert all(len(each) == 1 for each in found.turns.values())
        assert found.build == "Python 3.14.2"

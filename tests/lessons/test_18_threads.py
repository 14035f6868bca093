"""Tests of the explanations of lesson 18, for made-up results."""

import importlib
import math
import sys
from typing import Any

import pytest
from sessions import Play, explained

from harness.threads import Access, Build, Turn
from lessons.engine.lesson import Lesson

MODULE = importlib.import_module("lessons.18_threads")
FREE = "needs a free-threaded Python: uv python install 3.14t."
HERE = Build(sys.executable, "3.14.2", gil=True)


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "CORES", 2)
    monkeypatch.setattr(MODULE, "lacking_free_threaded", lambda: FREE)


def turns(threads: float, *, share: float = 0.98, number: int = 6) -> list[Turn]:
    """Return turns in which two threads reach this part of the calls of two processes."""
    return [Turn(2, 100.0, 190.0 * threads * (1 + 0.01 * each), 190.0, share, share) for each in range(number)]


def measured(share: float = 0.98, **threads: float) -> Any:
    return MODULE.Measured("Python 3.14.2t", {name: turns(part, share=share) for name, part in threads.items()})


def four(wait: float, hash_data: float, add_up: float, fill_table: float, share: float = 0.98) -> Any:
    return measured(share, wait=wait, hash_data=hash_data, add_up=add_up, fill_table=fill_table)


@pytest.mark.parametrize(
    ("found", "standing", "answer", "words"),
    [
        (four(0.98, 0.97, 0.5, 0.5), "held", "wait and hash_data", "Its two threads take turns"),
        (four(0.4, 0.5, 0.98, 0.5), "refuted", "", "execute Python code at the same time"),
        (four(0.98, 0.97, 0.5, 0.5, share=0.2), "inconclusive", "", "does not show"),
    ],
)
def test_threads_with_the_lock_are_compared_with_processes(
    prepare: Play, lesson: Lesson, found: Any, standing: str, answer: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "with_the_lock", found)
    assert set(standings.values()) == {standing}
    assert words in printed
    assert (f"{answer}." if answer else "no clear answer") in printed


@pytest.mark.parametrize("part", [0.69, 0.7])
def test_threads_near_the_limit_decide_nothing(prepare: Play, lesson: Lesson, part: float) -> None:
    _, standings = explained(prepare, lesson, "with_the_lock", four(0.98, 0.97, part, 0.5))
    assert standings["python-in-turn"] == "inconclusive"


def test_too_few_undisturbed_turns_decide_nothing() -> None:
    busy, calm = turns(0.5, share=0.3, number=1), turns(0.5, number=3)
    assert math.isnan(MODULE.against([*busy, *busy, *calm]).middle)
    assert MODULE.against([*busy, *calm]).highest < 0.6


def test_one_core_skips_the_claims_about_speed(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "CORES", 1)
    _, standings = explained(prepare, lesson, "with_the_lock", four(0.98, 0.97, 0.5, 0.5))
    assert set(standings.values()) == {"skipped"}


def test_without_a_build_with_the_lock_the_step_is_skipped(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "with_the_lock", None)
    assert set(standings.values()) == {"skipped"}
    assert "If nothing is missing, this step shows" in printed


@pytest.mark.parametrize("step", ["without_the_lock", "what_is_in_turn", "other_workers"])
def test_without_the_build_that_it_needs_a_step_is_skipped(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(MODULE, "lacking_interpreters", lambda: "needs Python 3.14t or another one.")
    printed, standings = explained(prepare, lesson, step, None)
    assert set(standings.values()) == {"skipped"}
    assert "3.14t" in printed
    assert "If nothing is missing, this step shows" in printed


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (four(0.98, 0.97, 0.95, 0.2), "held", "Each dict has its own lock"),
        (four(0.98, 0.97, 0.4, 0.95), "refuted", "do not run at the same time"),
    ],
)
def test_threads_without_the_lock(prepare: Play, lesson: Lesson, found: Any, standing: str, words: str) -> None:
    printed, standings = explained(prepare, lesson, "without_the_lock", found)
    assert set(standings.values()) == {standing}
    assert words in printed


@pytest.mark.parametrize(
    ("parts", "letter"), [((0.95, 0.2, 0.3), "c"), ((0.95, 0.2, 0.9), "b"), ((0.9,) * 3, "d"), ((0.2, 0.3, 0.4), "a")]
)
def test_the_functions_that_slow_each_other_down_decide_the_answer(parts: tuple[float, ...], letter: str) -> None:
    found = measured(**dict(zip(("own_list", "one_list", "one_object"), parts, strict=True)))
    assert MODULE.meeting_letter(found.turns) == letter


@pytest.mark.parametrize(("object_", "standing"), [(0.2, "held"), (0.95, "refuted")])
def test_an_object_that_both_threads_use(prepare: Play, lesson: Lesson, object_: float, standing: str) -> None:
    found = measured(own_list=0.95, imports=0.5, one_list=0.2, one_object=object_)
    _, standings = explained(prepare, lesson, "what_is_in_turn", found)
    assert standings["one-object-in-turn"] == standing


def lost(line: int, call: int, cores: float = 1.9) -> Any:
    return MODULE.Counted({"in_one_line": [line] * 4, "through_a_call": [0, call]}, cores)


@pytest.mark.parametrize(
    ("usual", "answer", "standings"),
    [
        (lost(0, 900), "Only through_a_call.", {"call-loses": "held", "line-is-lucky": "held"}),
        (lost(3, 900), "Both.", {"call-loses": "held", "line-is-lucky": "refuted"}),
        (lost(0, 0), "no clear answer", {"call-loses": "inconclusive", "line-is-lucky": "held"}),
        (None, "no clear answer", {"call-loses": "skipped", "line-is-lucky": "skipped"}),
    ],
)
def test_lost_updates_with_the_lock(
    prepare: Play, lesson: Lesson, usual: Any, answer: str, standings: dict[str, str]
) -> None:
    printed, found = explained(prepare, lesson, "lost_updates", MODULE.Lost(usual, None))
    assert found == {**standings, "line-loses": "skipped"}
    assert answer in printed


@pytest.mark.parametrize(
    ("line", "cores", "standing"), [(90_000, 1.9, "held"), (3, 1.9, "refuted"), (0, 0.9, "inconclusive")]
)
def test_lost_updates_without_the_lock(prepare: Play, lesson: Lesson, line: int, cores: float, standing: str) -> None:
    """Threads that never ran at the same time show nothing."""
    _, found = explained(prepare, lesson, "lost_updates", MODULE.Lost(lost(0, 900), lost(line, 900, cores)))
    assert found["line-loses"] == standing


@pytest.mark.parametrize(
    ("lock_s", "lost_", "standings"),
    [(0.006, 0, ("held", "held")), (0.001, 0, ("held", "refuted")), (0.006, 7, ("refuted", "held"))],
)
def test_the_repairs_are_right_and_have_a_cost(
    prepare: Play, lesson: Lesson, lock_s: float, lost_: int, standings: tuple[str, str]
) -> None:
    cpu_s = {"with_lock": [lock_s] * 6, "own_count": [0.001] * 6}
    found = MODULE.Repaired("Python 3.14.2", {"with_lock": [0] * 6, "own_count": [lost_] * 6}, cpu_s)
    printed, got = explained(prepare, lesson, "two_repairs", [found])
    assert got == {"nothing-lost": standings[0], "lock-costs": standings[1]}
    assert "Python 3.14.2" in printed


@pytest.mark.parametrize(("hits", "words"), [(4, "they seldom run at the same time"), (3, "hits is 3 and total is 4")])
def test_recorded_accesses_without_a_lock(prepare: Play, lesson: Lesson, hits: int, words: str) -> None:
    events = [Access("first", "write", "hits", ()), Access("first", "write", "total", ("lock",))]
    printed, standings = explained(prepare, lesson, "lost_nothing", MODULE.Watched(events, hits, 4))
    assert set(standings.values()) == {"held"}
    assert words in printed
    assert "Yes, whatever the result is." in printed
    _, standings = explained(prepare, lesson, "lost_nothing", MODULE.Watched(events[1:], 4, 4))
    assert standings["hits-unprotected"] == "inconclusive"


def test_the_watched_program_counts_with_two_threads() -> None:
    found = MODULE.lost_nothing()
    assert found.total == 4
    assert {event.thread for event in found.events if event.name == "hits"} == {"first", "second"}


def beside(interpreter_s: float, threads: float, busy: float = 0.9) -> Any:
    start_s = {"thread": [1e-4] * 6, "interpreter": [interpreter_s] * 6, "process": [9e-3] * 6}
    return MODULE.Beside("Python 3.14.2", start_s, [busy] * 6, turns(threads))


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (beside(5e-3, 0.95), "held", "although this build has a GIL"),
        (beside(2e-4, 0.4), "refuted", "do not execute Python code at the same time"),
    ],
)
def test_sub_interpreters(prepare: Play, lesson: Lesson, found: Any, standing: str, words: str) -> None:
    printed, standings = explained(prepare, lesson, "other_workers", found)
    assert set(standings.values()) == {standing}
    assert words in printed


@pytest.mark.parametrize(("interpreter_s", "standing"), [(5e-3, "held"), (2e-4, "inconclusive")])
def test_threads_that_started_late_do_not_refute_the_cost_of_a_sub_interpreter(
    prepare: Play, lesson: Lesson, interpreter_s: float, standing: str
) -> None:
    _, standings = explained(prepare, lesson, "other_workers", beside(interpreter_s, 0.95, busy=0.1))
    assert standings["interpreter-costs"] == standing


@pytest.mark.parametrize(
    ("new", "answer", "standings"),
    [
        ({1: 2, 2: 4, 4: 8}, "8.", ("held", "held")),
        ({1: 2, 2: 3, 4: 5}, "5.", ("refuted", "held")),
        ({1: 6, 2: 7, 4: 9}, "no clear answer", ("held", "refuted")),
    ],
)
def test_threads_of_torch(
    prepare: Play, lesson: Lesson, new: dict[int, int], answer: str, standings: tuple[str, str]
) -> None:
    printed, found = explained(prepare, lesson, "threads_of_torch", new)
    assert found == {"a-team-each": standings[0], "no-team": standings[1]}
    assert answer in printed


def rates(part: float, cores: float) -> Any:
    """Return seven equal turns. `part` is the share of the calls with 32 threads, and `cores` what two threads used."""
    calls = {(1, 1): 100.0, (1, 2): 150.0, (2, 1): 190.0, (2, 32): 190.0 * part}
    return [{way: MODULE.Rate(each, cores) for way, each in calls.items()}] * 7


@pytest.mark.parametrize(
    ("part", "cores", "standing"),
    [
        (0.2, 1.9, "held"),
        (1.3, 1.9, "refuted"),
        (0.2, 0.5, "held"),
        (3.3, 0.5, "inconclusive"),
    ],
)
def test_too_many_threads(prepare: Play, lesson: Lesson, part: float, cores: float, standing: str) -> None:
    printed, found = explained(prepare, lesson, "too_many_threads", rates(part, cores))
    assert found == {"too-many-slow": standing}
    assert ("no clear answer" in printed) == (cores < 1)


@pytest.mark.parametrize(
    ("calls", "cores", "words"),
    [(150, 1.9, ""), (50, 1.9, "only 50 % of the calls"), (50, 1.0, "The system often kept both threads on the same")],
)
def test_a_slow_team_of_two_is_explained(calls: float, cores: float, words: str) -> None:
    text = MODULE.team_of_two(MODULE.Rate(100, 1.0), MODULE.Rate(calls, cores))
    assert words in text
    assert bool(text) == bool(words)
    assert ("same core" in text) == (bool(words) and cores < MODULE.TWO_CORES)


def test_more_than_two_cores_need_a_limit(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "CORES", 8)
    monkeypatch.setattr(MODULE, "can_limit", lambda: False)
    _, found = explained(prepare, lesson, "too_many_threads", rates(2.1, 1.9))
    assert found == {"too-many-slow": "skipped"}


@pytest.mark.parametrize("step", ["with_the_lock", "without_the_lock", "what_is_in_turn", "lost_updates"])
def test_a_step_runs_in_each_build_that_is_found(lesson: Lesson, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(MODULE, "usual", lambda: HERE)
    monkeypatch.setattr(MODULE, "free_threaded", lambda: HERE)
    found: Any = next(each for each in lesson.steps if each.name == step).function(turns=1)
    if step == "lost_updates":
        assert found.usual.lost.keys() == found.free.lost.keys() == {"in_one_line", "through_a_call"}
    else:
        assert all(len(each) == 1 for each in found.turns.values())
        assert found.build == "Python 3.14.2"

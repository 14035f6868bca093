"""What the lesson on profiles says when a machine shows the opposite; results are planted, nothing is measured."""

import importlib
from collections import Counter
from pathlib import Path

import pytest
from sessions import Play, explained

from harness.profiles import Function, Ran
from lessons.engine.lesson import Lesson


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.09_cprofile").lesson
    assert isinstance(whole, Lesson)
    return whole


def function(name: str, calls: int, own_s: float, cumulative_s: float, outer_calls: int | None = None) -> Function:
    return Function(name, "script.py", calls, calls if outer_calls is None else outer_calls, own_s, cumulative_s, {})


def looks(sampled: Counter[str], traced: Counter[str], tracing_s: float) -> tuple[object, object]:
    found = {"counting": Counter(little=40_000, much=4, program=1), "sampling": sampled, "tracing": traced}
    turns = [{"plain": 1.0, "counting": 3.0, "sampling": 1.1, "tracing": tracing_s}] * 5
    return found, turns


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


def test_a_tracer_that_costs_nothing_and_agrees_with_the_samples_is_told_so(prepare: Play, lesson: Lesson) -> None:
    seen = Counter(little=300, much=700, program=0)
    printed, standings = explained(prepare, lesson, "three_ways_to_look", looks(seen, seen, tracing_s=1.0))
    assert standings == {
        "counts-know-no-time": "held",
        "tracing-costs": "refuted",
        "sampling-costs-less": "refuted",
        "tracing-blames-calls": "refuted",
    }
    assert "could not be seen here" in printed
    assert "Counting each call. 3× the plain" in printed


def test_few_samples_leave_it_open(prepare: Play, lesson: Lesson) -> None:
    seen, traced = Counter(little=1, much=2), Counter(little=600, much=400)
    _, standings = explained(prepare, lesson, "three_ways_to_look", looks(seen, traced, tracing_s=2.0))
    assert standings["counts-know-no-time"] == "inconclusive"
    assert standings["tracing-blames-calls"] == "inconclusive"
    assert standings["tracing-costs"] == "held"


def test_what_is_called_as_often_as_anything_else_is_no_example(prepare: Play, lesson: Lesson) -> None:
    found, turns = looks(Counter(little=30, much=70), Counter(little=6, much=4), tracing_s=2.0)
    assert isinstance(found, dict)
    found["counting"] = Counter(little=4, much=4, program=1)
    _, standings = explained(prepare, lesson, "three_ways_to_look", (found, turns))
    assert standings["counts-know-no-time"] == "refuted"


def test_a_main_that_works_itself_is_told_so(prepare: Play, lesson: Lesson) -> None:
    functions = (
        function("main", 1, 5.0, 6.0),
        function("<module>", 1, 1.0, 10.0),
        function("fib", 9, 1.0, 1.0, outer_calls=2),
    )
    _, standings = explained(prepare, lesson, "own_and_cumulative", (functions, "", 0.5))
    assert set(standings.values()) == {"refuted"}


def test_callers_that_do_not_add_up_are_told_so(prepare: Play, lesson: Lesson) -> None:
    clean = Function("clean", "script.py", 3, 3, 1.0, 4.0, {"load": (2, 2.0), "report": (1, 1.0)})
    _, standings = explained(prepare, lesson, "who_called_it", ((clean,), ""))
    assert standings == {"callers-add-up": "refuted", "one-call-counts": "refuted"}


def ran(printed: str, fib: int) -> Ran:
    names = ("clean", "load", "report", "main")
    return Ran(printed, (function("fib", fib, 0.1, 0.1), *(function(name, 1, 0.1, 0.1) for name in names)))


def test_a_tracer_in_python_that_is_as_fast_and_a_table_in_spite_of_o_are_told_so(
    prepare: Play, lesson: Lesson
) -> None:
    table = "0.5\n   ncalls  tottime\n   3  0.1\n   7  0.1\n"
    turn = {"cProfile": ran(table, 5), "profile": ran(table, 6)}
    printed, standings = explained(prepare, lesson, "from_the_command_line", (ran(table, 5), [turn]))
    assert set(standings.values()) == {"refuted"}
    assert "Measured 1 times." in printed


def test_a_network_that_learns_nothing_and_a_loop_that_does_it_all_are_told_so(prepare: Play, lesson: Lesson) -> None:
    names = ("a", "b", "c", "torch._C._EngineBase.run_backward")
    functions = (function("train", 1, 9.0, 10.0), *(function(name, 1, 0.1, 0.1) for name in names))
    printed, standings = explained(prepare, lesson, "a_network_trained", ([2.0, 2.0], functions))
    assert set(standings.values()) == {"refuted"}
    assert "The loop in train. train, 9 s." in printed


def test_a_tracer_that_slows_both_loops_alike_refutes_that_inlining_looks_better(prepare: Play, lesson: Lesson) -> None:
    plain = {"with_calls": 2.0, "inlined": 1.0, "traced with_calls": 2.0, "traced inlined": 1.0}
    printed, standings = explained(prepare, lesson, "what_asking_changes", [plain] * 3)
    assert standings == {"calls-are-slowed": "refuted", "inlining-gains": "held", "gain-looks-larger": "held"}
    slower = {**plain, "inlined": 2.5, "traced inlined": 5.0}
    printed, standings = explained(prepare, lesson, "what_asking_changes", [slower] * 3)
    assert set(standings.values()) == {"refuted"}
    assert "hardly a difference" in printed


@pytest.mark.parametrize("listens_on", [("192.0.2.7",), ()])
def test_a_server_that_others_can_reach_and_that_stays_is_told_so(
    prepare: Play, lesson: Lesson, tmp_path: Path, listens_on: tuple[str, ...]
) -> None:
    kept = tmp_path / "train.html"
    kept.write_text('<script src="/static/x.js">', encoding="utf-8")
    shown = importlib.import_module("lessons.09_cprofile").Shown("no page", listens_on, ended=False)
    _, standings = explained(prepare, lesson, "in_pictures", ((function("train", 1, 1.0, 1.0),), kept, shown))
    assert standings.pop("loopback-only") == ("refuted" if listens_on else "skipped")
    assert set(standings.values()) == {"refuted"}

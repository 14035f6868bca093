"""The explanations of lessons 12 to 14, 18 and 19, for made-up results and for machines that lack a part."""

import importlib
import math
import sys
from dataclasses import replace

import pytest
from sessions import MadeUp, duel

from harness.bytecode import instructions
from harness.compilers.inductor import TorchScriptSupport
from harness.compilers.new_processes import Start, Starts
from harness.threads.accesses import ThreadEvent
from harness.threads.builds import PythonBuild
from lessons.engine.api import Lacking, Rows
from lessons.probes import timer_builds

JIT = importlib.import_module("lessons.12_jit_fusion")
UNCLEAR = "no clear answer"


def test_break_even_is_infinite_if_compiled_calls_are_slower_and_unknown_if_noise_decides() -> None:
    start = Start(4.0, 10.0, 0.0)
    faster, slower = (replace(duel(ratio), low=ratio * 0.9, high=ratio * 1.1) for ratio in (2.0, 0.5))
    noise = replace(duel(1.02), low=0.9, high=1.1)
    assert [JIT.clear(JIT.paid_after(start, each)) for each in (slower, noise)] == [math.inf, None]
    assert JIT.paid_after(start, faster).middle == 20 / faster.baseline_s
    figures = JIT.when_it_has_paid_figures(({1 << 10: slower, 1 << 20: faster}, Starts(reason="no times")))
    assert figures["filled_to_empty"] == Lacking("no times")


def test_without_a_compiler_what_needs_one_is_lacking_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "a C++ compiler is missing: apt-get install g++"
    for asked in ("lacking", "cannot_compile", "unsupported"):
        monkeypatch.setattr(JIT, asked, lambda: lacking)
    monkeypatch.setattr(JIT, "torchscript_support", lambda: TorchScriptSupport(False, lacking))
    for name in ("graphs_behind_guards", "when_it_has_paid", "for_history"):
        assert getattr(JIT, f"{name}_figures")(getattr(JIT, name)()) == Lacking(lacking)
    written = JIT.the_loop_that_was_written_figures(JIT.the_loop_that_was_written())
    assert (written["moved_to_once"], written["gain"]) == (11, Lacking(lacking))
    ways = JIT.three_ways_to_run_figures(JIT.three_ways_to_run(calls=3))["ways"]
    assert ways.rows[2] == (None, None, None)


BYTECODE = MadeUp("13_bytecode")


def test_on_an_unchecked_version_other_opcodes_skip_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    BYTECODE.check("the_value_stack", "Python 3.99 compiles this to LOAD_ODD.", "skipped", "LOAD_ODD")
    monkeypatch.setattr(instructions, "CHECKED_ON", ((3, 3),))
    kinds = ("no call", "int", "float", "str")
    never = {kind: ["LOAD_ODD", "ADD_ODD"] for kind in kinds}
    BYTECODE.check("instructions_that_adapt", never, "skipped", "checked on 3.3 to 3.3", UNCLEAR)
    adapts = {kind: [f"BINARY_OP{suffix}"] for kind, suffix in zip(kinds, ("", "_ADD_INT", "_F", "_S"), strict=True)}
    BYTECODE.check("instructions_that_adapt", adapts, "held")


def test_without_a_compiler_a_step_about_extensions_names_the_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = importlib.import_module("lessons.14_extensions")
    monkeypatch.setattr(lesson, "lacking", lambda **_: "a C compiler is missing: apt-get install gcc")
    monkeypatch.setattr(timer_builds, "lacking", lambda: "a C++ compiler is missing: apt-get install g++")
    for step in lesson.lesson.steps:
        found = step.figures(0.0, {step.name: step()})
        assert isinstance(found, Lacking)
        assert "apt-get install g" in found.reason
    monkeypatch.setattr(timer_builds, "lacking", lambda: "")
    monkeypatch.setattr(timer_builds, "compiled_before", lambda _: False)
    assert "without --fast" in lesson.from_cpp(compiling=0)  # a short run compiles none of torch's headers


THREADS = MadeUp("18_threads")


def test_without_the_build_that_it_needs_a_step_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(THREADS.module, "lacking_free_threaded", lambda: "needs Python 3.14t.")
    THREADS.check("without_the_lock", None, "skipped", "3.14t")


def test_recorded_accesses_without_a_lock() -> None:
    events = [ThreadEvent("first", "write", "hits", ()), ThreadEvent("first", "write", "total", ("lock",))]
    THREADS.check("lost_nothing", (events, 3), "held", "and is 3", "Yes, whatever the result is.")
    THREADS.check("lost_nothing", (events[1:], 4), {"hits-unprotected": "inconclusive"})
    events, _ = THREADS.lost_nothing()
    assert {event.thread for event in events if event.name == "hits"} == {"first", "second"}


def test_lost_counts_are_those_of_each_run() -> None:
    """`hits` grows over all runs, so a run's losses are what is missing between two readings."""
    runs = [("one", None, 95), ("two", None, 195), ("one", None, 290)]
    assert THREADS.lost_counts(runs, 100) == {"one": [5, 5], "two": [0]}


def test_a_step_runs_in_each_build_that_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    here = PythonBuild(sys.executable, "3.14.2", gil=True)
    monkeypatch.setattr(THREADS.module, "usual", lambda: here)
    monkeypatch.setattr(THREADS.module, "free_threaded", lambda: here)
    for step in ("with_the_lock", "without_the_lock"):
        build, functions = getattr(THREADS, step)(turns=1)
        assert all(len(turns) == 1 for turns in functions.values())
        assert build == "Python 3.14.2"
    figures = THREADS.lost_updates_figures(THREADS.lost_updates(turns=1))
    assert [row[:2] for row in figures["lost"].rows] == [
        ("Python 3.14.2", "in_one_line"),
        ("Python 3.14.2", "through_a_call"),
    ]


COMPILE = importlib.import_module("lessons.19_compile")


def test_where_torch_cannot_compile_only_the_exports_have_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILE, "unsupported", lambda: "no-such-Python")
    exports = {"range_of_sizes", "frozen_numbers"}
    for name in {step.name for step in COMPILE.lesson.steps} - exports:
        assert getattr(COMPILE, f"{name}_figures")(getattr(COMPILE, name)()) == Lacking("no-such-Python")


def test_without_torchscript_the_table_has_two_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILE, "torchscript_support", lambda: TorchScriptSupport(False, "it is gone"))
    figures = COMPILE.four_compilers_figures([{"compile": "right", "export": "refused"}] * 8)
    assert figures["counts"] == Rows([("compile", 8, 0, 0), ("export", 0, 0, 8)])
    assert figures["accepted"] == figures["traces_wrong"] == Lacking("it is gone")

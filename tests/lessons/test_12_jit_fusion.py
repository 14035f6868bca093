"""Tests of the texts of lesson 12 for made-up results, and for machines without a compiler."""

import importlib
import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch
from sessions import Play, duel, explained

from harness.compilers import (
    Captured,
    ImplementationTimes,
    OperationTraffic,
    Start,
    Starts,
    TorchScriptSupport,
    unsupported,
)
from harness.machine.background_load import HIGH_LOAD, BackgroundLoad
from harness.paired.duel_result import Duel
from lessons.engine.interval import Interval
from lessons.engine.lesson import Lesson

MIB = 1 << 20
PASSES = tuple(OperationTraffic(f"aten.{n}", 2 * MIB, MIB) for n in range(9))
KERNEL = 'extern "C" void kernel() {\n  for(long i = 0; i < 9; i++) {}\n}'
COLD, WARM = Start(5.0, 6.0, 1e-3), Start(5.0, 0.5, 1e-3)
KEPT = Starts(COLD, WARM, "2026-01-31")


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return importlib.import_module("lessons.12_jit_fusion")


@pytest.fixture(scope="module")
def lesson(module: ModuleType) -> Lesson:
    assert isinstance(module.lesson, Lesson)
    return module.lesson


def times(ready: float, first: float, later: float) -> Any:
    return importlib.import_module("lessons.12_jit_fusion").Times(ready, first, [later] * 8)


def independent(
    ready: dict[int, list[str]], apart: float, ratio: float, turns: list[tuple[float, float]], load: float
) -> Any:
    module = importlib.import_module("lessons.12_jit_fusion")
    return module.Independent(ready, apart, duel(ratio), [module.Turn(*turn) for turn in turns], BackgroundLoad(load))


@pytest.fixture
def no_compiler(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ("lacking", "cannot_compile"):
        monkeypatch.setattr(module, asked, lambda: "a C++ compiler is missing: apt-get install g++")


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_what_needs_one_is_skipped_with_the_reason(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    found = {"interpreted": times(0.0, 1e-2, 1e-2), "just in time": times(0.1, 0.5, 1e-4)}
    printed, standings = explained(prepare, lesson, "three_ways_to_run", found)
    assert standings == {"first-pays": "held", "machine-code-wins": "held", "ahead-paid-before": "skipped"}
    assert "apt-get install g++" in printed
    _, standings = explained(prepare, lesson, "the_loop_that_was_written", module.Written(PASSES, "", None))
    assert standings == {"less-moved": "held", "one-kernel": "skipped", "fused-is-faster": "skipped"}
    printed, standings = explained(prepare, lesson, "when_it_has_paid", None)
    assert set(standings.values()) == {"skipped"}
    assert "If nothing is missing, this step shows" in printed


@pytest.mark.usefixtures("no_compiler")
def test_steps_that_compile_give_up_before_they_begin(module: ModuleType) -> None:
    assert module.when_it_has_paid() is None
    passes, written, found = module.the_loop_that_was_written()
    assert (len(passes) > 5, written, found) == (True, "", None)


def test_a_compiler_that_costs_nothing_refutes_that_the_first_call_does(prepare: Play, lesson: Lesson) -> None:
    found = {way: times(0.0, 1e-3, 1e-3) for way in ("interpreted", "just in time", "ahead of time")}
    printed, standings = explained(prepare, lesson, "three_ways_to_run", found)
    assert set(standings.values()) == {"refuted"}
    assert "Measured 1 to 10." in printed
    assert "compiling takes a smaller part of the first call" in printed


def test_a_cache_that_does_not_help_refutes_that_it_does(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    calls = [module.Call(name, 0.1, n) for n, name in enumerate(("1", "2", "2.0", "a", "b", "c"), start=1)]
    found = module.ByType(calls, ["int64"], Starts(COLD, COLD, "a day"))
    printed, standings = explained(prepare, lesson, "once_for_each_type", found)
    assert "6 times" in printed
    assert standings == {"once-per-type": "refuted", "kept-starts-sooner": "refuted"}


def test_what_was_not_started_is_skipped_with_its_reason(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    found = module.Prices({1 << 10: duel(1.1), 1 << 20: duel(4.0)}, Starts(reason="the short run"))
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert standings.pop("small-gains-less") == "held"
    assert set(standings.values()) == {"skipped"}
    assert "skipped: the short run" in printed


@pytest.mark.parametrize(
    ("tanh", "words"),
    [(0.5, "With the tanh, the loop is slower"), (2.0, "With the tanh, the loop is faster")],
)
def test_the_words_about_a_tanh_are_those_of_the_outcome(
    prepare: Play, lesson: Lesson, module: ModuleType, tanh: float, words: str
) -> None:
    found = module.Gains(curve=duel(6.0), softened=duel(tanh))
    printed, standings = explained(prepare, lesson, "eight_passes_made_one", found)
    assert words in printed
    assert "curve, with only sums and products" in printed
    assert set(standings.values()) == {"held"}


def test_gains_that_are_alike_refute_that_they_depend_on_the_formula(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    found = module.Gains(curve=duel(1.2), softened=duel(1.2))
    printed, standings = explained(prepare, lesson, "eight_passes_made_one", found)
    assert set(standings.values()) == {"refuted"}
    assert "Both the same, within 10 %" in printed


def test_gains_that_noise_hides_are_neither_alike_nor_different(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    noisy = replace(duel(2.0), low=1.0, high=4.0)
    printed, standings = explained(prepare, lesson, "eight_passes_made_one", module.Gains(noisy, noisy))
    assert set(standings.values()) == {"inconclusive"}
    assert "This run gives no clear answer" in printed
    assert "So the gain of fusion depends" not in printed
    assert "is not much larger" not in printed


def test_a_graph_that_was_run_while_it_was_captured_is_reported(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    printed, standings = explained(
        prepare, lesson, "declare_or_run", module.Traced("graph()", 9, 8, 9, [], (2, 2), ["Tensor", "Tensor"])
    )
    assert "All, once" in printed
    assert "depends on numbers runs runs" in printed
    assert set(standings.values()) == {"refuted"}


def signed(module: ModuleType, functions: int, returned: float) -> Any:
    """Return a result of the step `signatures_in_advance`. numba compiles `functions` functions during the import."""
    turns = [module.Loaded(1e-3, 0.1, 0.1 * functions, 1e-5)] * 5
    return module.Signed(turns, returned, "No matching definition for argument type(s) complex128", 1)


@pytest.mark.parametrize(
    ("functions", "returned", "standing", "words"),
    [
        (4, 4, "held", ("More than 2", "that the program never calls", "converts 2.9 to the integer 2")),
        (1, 5.8, "refuted", ("0.5 to 2", "took little time", "twice(2.9) returned 5.8")),
    ],
)
def test_the_cost_of_signatures_is_explained_as_it_was_measured(
    prepare: Play,
    lesson: Lesson,
    module: ModuleType,
    functions: int,
    returned: float,
    standing: str,
    words: tuple[str, ...],
) -> None:
    found = signed(module, functions, returned)
    printed, standings = explained(prepare, lesson, "signatures_in_advance", found)
    assert standings == {"import-compiles": standing, "first-call-is-short": "held", "float-is-cut": standing}
    assert all(each in printed for each in words)
    assert "complex128" in printed


def test_numba_converts_a_float_to_the_declared_integer(module: ModuleType) -> None:
    found = module.signatures_in_advance(fast=True)
    assert (found.of_a_float, found.signatures) == (4, 1)
    assert "complex128" in found.refused


def test_both_styles_stand_beside_each_other(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    printed, standings = explained(prepare, lesson, "declare_or_run", module.declare_or_run())
    assert set(standings.values()) == {"held"}
    assert "wasteful gets Tensor Proxy" in printed
    assert "depends on numbers runs an error" in printed


def implementations(cython_s: float, pypy_s: float) -> tuple[ImplementationTimes, ...]:
    """Return the times of `collatz` in CPython (10 ms), PyPy and Cython. Nuitka is missing."""
    return (
        ImplementationTimes("CPython", 0.0, (0.01, 0.01)),
        ImplementationTimes("PyPy", 0.0, (0.01, pypy_s)),
        ImplementationTimes("Cython", 3.0, (cython_s, cython_s)),
        ImplementationTimes("Nuitka", reason="Nuitka is missing: python -m pip install nuitka"),
    )


@pytest.mark.parametrize(
    ("found", "standing", "words"),
    [
        (implementations(0.005, 0.001), "held", ("1× to 10×", "compiles the loops that run often")),
        (implementations(0.0001, 0.01), "refuted", ("10× or more", "PyPy is not much faster")),
    ],
)
def test_other_implementations_are_explained_as_they_were_measured(
    prepare: Play, lesson: Lesson, found: tuple[ImplementationTimes, ...], standing: str, words: tuple[str, ...]
) -> None:
    printed, standings = explained(prepare, lesson, "other_ways_to_run", found)
    assert standings == {"untyped-gains-little": standing, "pypy-wins": standing}
    assert all(each in printed for each in words)
    assert "Nuitka is missing: python -m pip install nuitka" in printed


def test_what_is_not_installed_is_named_with_its_command(prepare: Play, lesson: Lesson) -> None:
    missing = [
        ImplementationTimes(name, reason=f"{name} is missing: get {name}") for name in ("PyPy", "Cython", "Nuitka")
    ]
    found = (ImplementationTimes("CPython", 0.0, (0.01, 0.01)), *missing)
    printed, standings = explained(prepare, lesson, "other_ways_to_run", found)
    assert set(standings.values()) == {"skipped"}
    assert all(f"get {name}" in " ".join(printed.split()) for name in ("PyPy", "Cython", "Nuitka"))
    assert "The answer needs Cython." in printed
    assert "PyPy 7.3.11 (Python 3.9) 2.39 ms 78.7 µs" in printed


def guarded(module: ModuleType, *graphs: int, branch: Captured) -> Any:
    sizes = ((64, "float32"), (64, "float32"), (65, "float32"), (1000, "float32"), (64, "float64"))
    calls = [module.SizedCall(*size, after) for size, after in zip(sizes, graphs, strict=True)]
    return module.Guarded(calls, "code", ("x is a tensor",), branch)


def test_a_compiler_that_never_compiles_anew_refutes_its_guards(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    found = guarded(module, 1, 1, 1, 1, 1, branch=Captured(1, 9, ()))
    printed, standings = explained(prepare, lesson, "graphs_behind_guards", found)
    assert standings.pop("same-again") == "held"
    assert set(standings.values()) == {"refuted"}
    assert "x is a tensor" in printed


@pytest.mark.parametrize(
    ("graphs", "standing"), [((1, 1, 2, 2, 3), "held"), ((1, 1, 1, 2, 3), "refuted"), ((1, 1, 2, 3, 4), "refuted")]
)
def test_only_the_second_size_may_compile_another_graph(
    prepare: Play, lesson: Lesson, module: ModuleType, graphs: tuple[int, ...], standing: str
) -> None:
    found = guarded(module, *graphs, branch=Captured(2, 9, ("a branch",)))
    printed, standings = explained(prepare, lesson, "graphs_behind_guards", found)
    assert standings.pop("any-size-then") == standing
    assert set(standings.values()) == {"held"}
    assert ("also fits the third size" in printed) == (standing == "held")


@pytest.mark.parametrize(
    ("gain", "words"),
    [(duel(3.0), "do not expect that the speedup"), (duel(1.1), "moving fewer bytes saves little time")],
)
def test_what_fewer_bytes_gave_is_reported(
    prepare: Play, lesson: Lesson, module: ModuleType, gain: Duel, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "the_loop_that_was_written", module.Written(PASSES, KERNEL, gain))
    assert words in printed
    assert standings["fused-is-faster"] == ("held" if gain.ratio > 2 else "refuted")
    assert standings["one-kernel"] == "held"
    assert "for(long i = 0" in printed


def test_an_unclear_gain_is_not_explained_by_the_bytes(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    noisy = replace(duel(1.3), low=0.9, high=2.0)
    printed, standings = explained(prepare, lesson, "the_loop_that_was_written", module.Written(PASSES, KERNEL, noisy))
    assert standings["fused-is-faster"] == "inconclusive"
    assert "does not show clearly how much time the fused loop saves" in printed
    assert "saves little time" not in printed


def test_a_compiled_call_that_is_slower_never_pays(prepare: Play, lesson: Lesson, module: ModuleType) -> None:
    found = module.Prices({1 << 10: duel(0.5), 1 << 20: duel(4.0)}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert "compiling pays off numbers empty cache filled cache" in printed
    assert printed.count("never") == 3, "two lines about caches, and one about the claim"
    assert "With 1 024 numbers, the compiled call is slower" in printed
    assert set(standings.values()) == {"held"}
    found = module.Prices({1 << 10: duel(4.0), 1 << 20: duel(0.5)}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert standings["small-gains-less"] == "refuted"
    assert "This run gives no clear answer" in printed


def test_an_unclear_gain_does_not_decide_after_how_many_calls_compiling_pays(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    noisy = replace(duel(1.005), low=0.8, high=1.01)
    found = module.Prices({1 << 10: noisy, 1 << 20: duel(4.0)}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert standings["small-needs-more"] == "held"
    assert "at least 6 058 99" in printed
    found = module.Prices({1 << 10: duel(4.0), 1 << 20: noisy}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert standings["small-needs-more"] == "refuted"
    assert "This run gives no clear answer" in printed
    found = module.Prices({1 << 10: noisy, 1 << 20: noisy}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert (standings["small-needs-more"], standings["small-gains-less"]) == ("inconclusive", "inconclusive")
    assert "never" not in printed
    found = module.Prices({1 << 10: replace(noisy, ratio=0.9), 1 << 20: noisy}, KEPT)
    printed, standings = explained(prepare, lesson, "when_it_has_paid", found)
    assert standings["small-needs-more"] == "inconclusive"
    assert "never" not in printed
    assert "gains less with 1 024" not in printed
    assert "the compiled call is slower" not in printed


def test_break_even_is_what_the_price_is_worth_in_calls(module: ModuleType) -> None:
    assert module.needed(COLD, 3.0, 1.0) == 3
    assert module.needed(COLD, 1.0, 1.0) == math.inf
    assert math.isnan(module.paid_after(None, duel(2.0)).middle)


def test_the_price_does_not_contain_the_run_of_the_first_call(module: ModuleType) -> None:
    assert module.needed(Start(0.0, first_s=10.0, again_s=4.0), 3.0, 1.0) == 3


def test_the_calls_until_compiling_pays_have_the_interval_of_the_gain(module: ModuleType) -> None:
    contest = replace(duel(2.0), low=1.5, high=3.0)
    calls = module.paid_after(Start(0.0, 1.001, 0.001), contest)
    assert (calls.low, calls.middle, calls.high) == (15_000, 20_000, 30_000)
    assert module.calls_in_words(calls) == "15 000 to 30 000"
    assert math.isinf(module.paid_after(COLD, replace(contest, low=0.0)).high)


def test_a_quotient_of_two_values_without_limits_is_unknown(module: ModuleType) -> None:
    never = Interval.exact(math.inf)
    assert math.isnan(module.quotient(never, never).middle)
    assert module.quotient(Interval.exact(6), Interval(2, 1, 3)) == Interval(3, 2, 6)


@pytest.mark.parametrize(
    ("turn", "others", "standing"),
    [((2.0, 1.1), 0.1, "held"), ((2.0, 2.5), 0.1, "refuted"), ((2.0, 2.5), HIGH_LOAD, "inconclusive")],
)
def test_two_cores_are_judged_where_nobody_else_uses_them(
    prepare: Play,
    lesson: Lesson,
    monkeypatch: pytest.MonkeyPatch,
    turn: tuple[float, float],
    others: float,
    standing: str,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    found = independent({1: ["a", "b", "c"], 2: ["d"]}, 0.0, 2.0, [turn] * 3, others)
    _, standings = explained(prepare, lesson, "what_does_not_wait", found)
    assert standings["two-cores"] == standing


def test_one_core_skips_what_takes_two(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    found = independent({1: ["a", "b"], 2: ["c"]}, 1.0, 0.9, [(1.0, 1.0)], 0.0)
    printed, standings = explained(prepare, lesson, "what_does_not_wait", found)
    assert "Two." in printed
    assert standings.pop("two-cores") == "skipped"
    assert set(standings.values()) == {"refuted"}


def test_an_export_that_refuses_nothing_and_computes_something_else_is_reported(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    found = module.Exported("def forward(self, x)", 8, 9, 0.5, "", "", "size 65")
    printed, standings = explained(prepare, lesson, "whole_graph_or_none", found)
    assert set(standings.values()) == {"refuted"}
    assert "This run gives no clear answer" in printed
    whole = module.Exported("def forward(self, x)", 9, 9, 0.0, "a branch on data", "Guard failed", "")
    printed, standings = explained(prepare, lesson, "whole_graph_or_none", whole)
    assert set(standings.values()) == {"held"}
    assert "brighten, exported: a branch on data" in printed


def test_a_python_that_torch_refuses_skips_what_needs_torch_compile(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "unsupported", lambda: "torch.compile is not supported on Python 3.99+")
    assert module.graphs_behind_guards() is None
    printed, standings = explained(prepare, lesson, "graphs_behind_guards", None)
    assert set(standings.values()) == {"skipped"}
    assert "not supported on Python 3.99" in printed


@pytest.mark.parametrize("runs", [False, True])
def test_a_torch_or_python_without_torchscript_skips_history_with_the_reason(
    prepare: Play, lesson: Lesson, module: ModuleType, monkeypatch: pytest.MonkeyPatch, runs: bool
) -> None:
    monkeypatch.setattr(
        module, "torchscript_support", lambda: TorchScriptSupport(runs, "torch 9.9 has no TorchScript any more")
    )
    assert module.for_history() is None
    printed, standings = explained(prepare, lesson, "for_history", None)
    assert set(standings.values()) == {"skipped"}
    assert "torch 9.9 has no TorchScript any more" in " ".join(printed.split())
    assert "successors" in printed


def test_the_step_on_torchscript_says_since_when_it_is_deprecated_and_what_replaced_it(lesson: Lesson) -> None:
    (step,) = (step for step in lesson.steps if "TorchScript" in step.title)
    assert all(word in step.introduction for word in ("deprecated since", "torch.compile", "torch.export"))


def test_a_script_that_gains_and_a_trace_that_keeps_its_branch_change_the_words(
    prepare: Play, lesson: Lesson, module: ModuleType
) -> None:
    printed, standings = explained(prepare, lesson, "for_history", module.History(True, False, duel(3.0)))
    assert "scripting saves much time" in printed
    assert "It runs the other side" in printed
    assert set(standings.values()) == {"refuted"}


@pytest.mark.skipif(bool(unsupported()), reason=unsupported())
def test_the_graph_with_the_price_serves_each_size(module: ModuleType) -> None:
    graphs: list[object] = []

    def keep(graph: torch.fx.GraphModule, _: object) -> Callable[..., object]:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled: Callable[..., object] = torch.compile(module.gelu, backend=keep, dynamic=True)
    for size in (1 << 10, 1 << 15, 1 << 20):
        compiled(torch.ones(size))
    torch.compiler.reset()
    assert len(graphs) == 1


def test_the_price_and_the_gain_are_measured_with_the_same_kind_of_graph(module: ModuleType) -> None:
    assert "torch.compile(dynamic=True)" in module.kept_by_inductor()
    assert "torch.compile(gelu, dynamic=True)" in inspect.getsource(module)
    assert "dynamic=False" not in inspect.getsource(module)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.5, 0.9, "the loop is slower"), (1.2, 1.4, "the loop is faster"), (0.8, 1.4, "does not show")],
)
def test_an_unclear_duel_is_not_explained_as_a_result(module: ModuleType, low: float, high: float, words: str) -> None:
    assert words in module.tanh_in_words(replace(duel(1.0), low=low, high=high))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.5, 0.9, "never pays"), (1.2, 1.4, "take more than about 2 s"), (0.8, 1.4, "does not show")],
)
def test_compiling_never_pays_only_if_it_is_clearly_slower(
    module: ModuleType, low: float, high: float, words: str
) -> None:
    assert words in module.pays_in_words(replace(duel(1.0), low=low, high=high), 2.0)

"""What lesson 12 says where a machine shows the opposite, or has no compiler; results are planted."""

import importlib
import math
from types import ModuleType

import pytest
from sessions import Play, duel, explained

from harness.compilers import Captured, Pass, Start, Starts, Support
from harness.others import CROWD, Others
from lessons.engine.lesson import Lesson

MIB = 1 << 20
PASSES = tuple(Pass(f"aten.{n}", 2 * MIB, MIB) for n in range(9))
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


@pytest.fixture
def no_compiler(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ("lacking", "cannot_compile"):
        monkeypatch.setattr(module, asked, lambda: "a C++ compiler is missing: apt-get install g++")


def test_every_step_asks_before_it_reveals(lesson: Lesson) -> None:
    assert all(step.predict is not None for step in lesson.steps)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_what_needs_one_is_skipped_and_said(prepare: Play, lesson: Lesson) -> None:
    times = {"interpreted": [0.0, *[1e-2] * 9], "just in time": [0.1, 0.5, *[1e-4] * 8]}
    printed, standings = explained(prepare, lesson, "three_ways_to_run", times)
    assert standings == {"first-pays": "held", "machine-code-wins": "held", "ahead-paid-before": "skipped"}
    assert "apt-get install g++" in printed
    _, standings = explained(prepare, lesson, "the_loop_that_was_written", (PASSES, "", None))
    assert standings == {"less-moved": "held", "one-kernel": "skipped", "fused-is-faster": "skipped"}
    printed, standings = explained(prepare, lesson, "when_it_has_paid", None)
    assert set(standings.values()) == {"skipped"}
    assert "With it, this step shows" in printed


@pytest.mark.usefixtures("no_compiler")
def test_steps_that_compile_give_up_before_they_begin(module: ModuleType) -> None:
    assert module.when_it_has_paid() is None
    passes, written, found = module.the_loop_that_was_written()
    assert (len(passes) > 5, written, found) == (True, "", None)


def test_a_compiler_that_costs_nothing_refutes_that_the_first_call_does(prepare: Play, lesson: Lesson) -> None:
    times = {way: [0.0, *[1e-3] * 9] for way in ("interpreted", "just in time", "ahead of time")}
    printed, standings = explained(prepare, lesson, "three_ways_to_run", times)
    assert set(standings.values()) == {"refuted"}
    assert "Up to 10 times as long" in printed


def test_a_cache_that_does_not_help_refutes_that_it_does(prepare: Play, lesson: Lesson) -> None:
    calls = [(name, 0.1, n) for n, name in enumerate(("1", "2", "2.0", "a", "b", "c"), start=1)]
    _, standings = explained(prepare, lesson, "once_for_each_type", (calls, ["int64"], Starts(COLD, COLD, "a day")))
    assert standings == {"once-per-type": "refuted", "kept-starts-sooner": "refuted"}


def test_what_was_not_started_is_skipped_with_its_reason(prepare: Play, lesson: Lesson) -> None:
    found = {1 << 10: duel(1.1), 1 << 20: duel(4.0)}
    printed, standings = explained(prepare, lesson, "when_it_has_paid", (found, Starts(reason="the short run")))
    assert standings.pop("small-gains-less") == "held"
    assert set(standings.values()) == {"skipped"}
    assert "skipped: the short run" in printed


@pytest.mark.parametrize(("tanh", "words"), [(0.5, "the loop even lost"), (2.0, "Fusion saves passes")])
def test_the_words_about_a_tanh_are_those_of_the_outcome(
    prepare: Play, lesson: Lesson, tanh: float, words: str
) -> None:
    found = {"curve": duel(6.0), "softened": duel(tanh)}
    printed, standings = explained(prepare, lesson, "eight_passes_made_one", found)
    assert words in printed
    assert set(standings.values()) == {"held"}


def test_gains_that_are_alike_refute_that_they_depend_on_the_formula(prepare: Play, lesson: Lesson) -> None:
    found = {"curve": duel(1.2), "softened": duel(1.2)}
    _, standings = explained(prepare, lesson, "eight_passes_made_one", found)
    assert set(standings.values()) == {"refuted"}


def test_a_graph_that_was_run_while_it_was_captured_is_told(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "declare_or_run", ("graph()", [9, 8, 9], []))
    assert "All, once" in printed
    assert set(standings.values()) == {"refuted"}


def test_a_compiler_that_never_compiles_anew_refutes_its_guards(prepare: Play, lesson: Lesson) -> None:
    calls = [(n, "float32", 1) for n in (64, 64, 65, 1000, 64)]
    whole = Captured(1, 9, ())
    printed, standings = explained(prepare, lesson, "graphs_behind_guards", (calls, "code", ("x is a tensor",), whole))
    assert standings.pop("same-again") == "held"
    assert set(standings.values()) == {"refuted"}
    assert "x is a tensor" in printed


@pytest.mark.parametrize(
    ("gain", "words"), [(3.0, "the arithmetic is the same"), (1.1, "bytes are not what takes the time")]
)
def test_what_fewer_bytes_gave_is_told_as_it_is(prepare: Play, lesson: Lesson, gain: float, words: str) -> None:
    printed, standings = explained(prepare, lesson, "the_loop_that_was_written", (PASSES, KERNEL, duel(gain)))
    assert words in printed
    assert standings["fused-is-faster"] == ("held" if gain > 2 else "refuted")
    assert standings["one-kernel"] == "held"
    assert "for(long i = 0" in printed


def test_a_compiled_call_that_is_slower_never_pays(prepare: Play, lesson: Lesson) -> None:
    found = {1 << 10: duel(0.5), 1 << 20: duel(4.0)}
    printed, standings = explained(prepare, lesson, "when_it_has_paid", (found, KEPT))
    assert "never" in printed
    assert set(standings.values()) == {"held"}
    found = {1 << 10: duel(4.0), 1 << 20: duel(0.5)}
    printed, standings = explained(prepare, lesson, "when_it_has_paid", (found, KEPT))
    assert standings["small-gains-less"] == "refuted"
    assert "This run could not tell" in printed


def test_break_even_is_what_the_price_is_worth_in_calls(module: ModuleType) -> None:
    assert module.needed(COLD, 3.0, 1.0) == 3
    assert module.needed(COLD, 1.0, 1.0) == math.inf
    assert math.isnan(module.needed(None, 3.0, 1.0))


@pytest.mark.parametrize(
    ("turn", "others", "standing"),
    [((2.0, 1.1), 0.1, "held"), ((2.0, 2.5), 0.1, "refuted"), ((2.0, 2.5), CROWD, "inconclusive")],
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
    found = ({1: ["a", "b", "c"], 2: ["d"]}, 0.0, duel(2.0), [turn] * 3, Others(others))
    _, standings = explained(prepare, lesson, "what_does_not_wait", found)
    assert standings["two-cores"] == standing


def test_one_core_skips_what_takes_two(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    found = ({1: ["a", "b"], 2: ["c"]}, 1.0, duel(0.9), [(1.0, 1.0)], Others())
    _, standings = explained(prepare, lesson, "what_does_not_wait", found)
    assert standings.pop("two-cores") == "skipped"
    assert set(standings.values()) == {"refuted"}


def test_an_export_that_refuses_nothing_and_computes_something_else_is_told(prepare: Play, lesson: Lesson) -> None:
    found = ("def forward(self, x)", [8, 9], 0.5, ["", "", "size 65"])
    printed, standings = explained(prepare, lesson, "whole_graph_or_none", found)
    assert set(standings.values()) == {"refuted"}
    assert "This run could not tell" in printed
    whole = ("def forward(self, x)", [9, 9], 0.0, ["a branch on data", "Guard failed", ""])
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
    monkeypatch.setattr(module, "torchscript_support", lambda: Support(runs, "torch 9.9 has no TorchScript any more"))
    assert module.for_history() is None
    printed, standings = explained(prepare, lesson, "for_history", None)
    assert set(standings.values()) == {"skipped"}
    assert "torch 9.9 has no TorchScript any more" in " ".join(printed.split())
    assert "successors" in printed


def test_the_step_on_torchscript_says_since_when_it_is_deprecated_and_what_replaced_it(lesson: Lesson) -> None:
    (step,) = (step for step in lesson.steps if "TorchScript" in step.title)
    assert all(word in step.introduction for word in ("deprecated since", "torch.compile", "torch.export"))


def test_a_script_that_gains_and_a_trace_that_keeps_its_branch_change_the_words(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "for_history", (True, False, duel(3.0)))
    assert "this torch fuses some operations" in printed
    assert "It takes the other side" in printed
    assert set(standings.values()) == {"refuted"}

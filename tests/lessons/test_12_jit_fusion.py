"""Tests of the texts of lesson 12 for made-up results, and for machines without a compiler."""

from typing import Any

import pytest
from sessions import MadeUp, duel

from harness.compilers.capture import OperationTraffic
from harness.compilers.inductor import TorchScriptSupport
from harness.compilers.new_processes import Start
from harness.machine.background_load import HIGH_LOAD, BackgroundLoad

LESSON = MadeUp("12_jit_fusion")
MIB = 1 << 20
PASSES = tuple(OperationTraffic(f"aten.{n}", 2 * MIB, MIB) for n in range(9))
COLD = Start(5.0, 6.0, 1e-3)


def times(ready: float, first: float, later: float) -> Any:
    return LESSON.Times(ready, first, [later] * 8)


def test_without_a_compiler_what_needs_one_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ("lacking", "cannot_compile"):
        monkeypatch.setattr(LESSON.module, asked, lambda: "a C++ compiler is missing: apt-get install g++")
    found = {"interpreted": times(0.0, 1e-2, 1e-2), "just in time": times(0.1, 0.5, 1e-4)}
    wanted = {"first-pays": "held", "machine-code-wins": "held", "ahead-paid-before": "skipped"}
    LESSON.check("three_ways_to_run", found, wanted, "apt-get install g++")
    wanted = {"less-moved": "held", "one-kernel": "skipped", "fused-is-faster": "skipped"}
    LESSON.check("the_loop_that_was_written", LESSON.Written(PASSES, "", None), wanted)
    LESSON.check("when_it_has_paid", None, "skipped", "If nothing is missing, this step shows")
    assert LESSON.when_it_has_paid() is None
    passes, written, gained = LESSON.the_loop_that_was_written()
    assert (len(passes) > 5, written, gained) == (True, "", None)


def test_two_cores_are_judged_where_nobody_else_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def independent(ready: dict[int, list[str]], apart: float, ratio: float, turn: Any, load: float) -> Any:
        return LESSON.Independent(ready, apart, duel(ratio), [LESSON.Turn(*turn)] * 3, BackgroundLoad(load))

    step, four = "what_does_not_wait", {1: ["a", "b", "c"], 2: ["d"]}
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for turn, load, standing in (
        ((2.0, 1.1), 0.1, "held"),
        ((2.0, 2.5), 0.1, "refuted"),
        ((2.0, 2.5), HIGH_LOAD, "inconclusive"),
    ):
        LESSON.check(step, independent(four, 0.0, 2.0, turn, load), {"two-cores": standing})
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    printed, standings = LESSON.explained(step, independent({1: ["a", "b"], 2: ["c"]}, 1.0, 0.9, (1.0, 1.0), 0.0))
    assert "Two." in printed
    assert standings.pop("two-cores") == "skipped"
    assert set(standings.values()) == {"refuted"}


def test_a_torch_that_lacks_a_compiler_skips_its_step_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "unsupported", lambda: "torch.compile is not supported on Python 3.99+")
    assert LESSON.graphs_behind_guards() is None
    LESSON.check("graphs_behind_guards", None, "skipped", "not supported on Python 3.99")
    for runs in (False, True):
        support = TorchScriptSupport(runs, "torch 9.9 has no TorchScript any more")
        monkeypatch.setattr(LESSON.module, "torchscript_support", lambda support=support: support)
        assert LESSON.for_history() is None
        LESSON.check("for_history", None, "skipped", "torch 9.9 has no TorchScript any more", "successors")

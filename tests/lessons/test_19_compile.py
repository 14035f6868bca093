"""Tests of the explanations of lesson 19, for made-up results."""

from typing import Any

import pytest
from sessions import MadeUp, duel

from harness.compilers.inductor import TorchScriptSupport
from harness.compilers.new_processes import Start, Starts

LESSON = MadeUp("19_compile")
OF_CAPTURES = (
    *("where_a_graph_ends", "breaks_repaired", "break_in_a_loop", "new_graph", "at_the_limit", "batch_sizes"),
    *("after_the_warm_up", "compiled_in_a_timer", "four_compilers"),
)
OF_COMPILERS = ("cost_of_a_break", "profile_of_compiled_code", "several_graphs")


def test_a_step_is_skipped_where_torch_cannot_compile_or_a_compiler_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LESSON.module, "unsupported", lambda: "no-such-Python")
    for name in OF_CAPTURES:
        assert getattr(LESSON, name)(fast=True) is None
        LESSON.check(name, None, "skipped", "no-such-Python")
    monkeypatch.setattr(LESSON.module, "cannot_compile", lambda: "a C++ compiler is missing")
    for name in OF_COMPILERS:
        assert getattr(LESSON, name)(fast=True) is None
        LESSON.check(name, None, "skipped", "If nothing is missing, this step shows")


def test_the_break_even_counts_each_graph() -> None:
    def price(ratio: float, again_s: float) -> Any:
        return LESSON.Price(Starts(Start(4.0, 10.0, again_s), Start(4.0, 1.0, 0.5), "2026-11-23"), duel(ratio))

    rows = ("1 10 s 200 000", "2 12 s 240 000", "8 24 s 480 000")
    LESSON.check("several_graphs", price(2.0, again_s=2.0), "held", *rows)
    wanted = {"second-costs-too": "held", "second-is-cheaper": "refuted"}
    LESSON.check("several_graphs", price(0.5, again_s=12.0), wanted, "never")
    short = LESSON.Price(Starts(reason="no-kept-times"), duel(2.0))
    LESSON.check("several_graphs", short, "skipped", "no-kept-times")


def test_results_of_torchscript_are_counted_or_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def table(**results: str) -> dict[str, dict[str, str]]:
        return {f"function_{number}": dict(results) for number in range(8)}

    monkeypatch.setattr(LESSON.module, "torchscript_support", lambda: TorchScriptSupport(True))
    usual = table(script="refused", trace="wrong", compile="right", export="refused")
    LESSON.check("four_compilers", usual, "held", "Measured 0 to 2.")
    other = table(script="right", trace="right", compile="wrong", export="wrong")
    LESSON.check("four_compilers", other, "refuted", "Measured 6 to 8.")
    monkeypatch.setattr(LESSON.module, "torchscript_support", lambda: TorchScriptSupport(False, "no-TorchScript"))
    wanted = dict.fromkeys(("script-refuses", "trace-errs"), "skipped")
    wanted |= {"compile-takes-all": "held", "export-never-errs": "held"}
    LESSON.check("four_compilers", table(compile="right", export="right"), wanted, "no-TorchScript")

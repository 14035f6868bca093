"""Tests of the explanations of lesson 19, for made-up results."""

from typing import Any

import pytest
from sessions import MadeUp, duel

from harness.compilers import Captured, Start, Starts, TorchScriptSupport
from harness.profiles import Operator

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


@pytest.mark.parametrize(("graphs", "standing"), [(3, "held"), (1, "refuted")])
def test_the_graphs_are_counted(graphs: int, standing: str) -> None:
    found = Captured(graphs, 5, ("data-dependent\nmore",), ("if y.sum() > 100:",))
    printed, standings = LESSON.explained("where_a_graph_ends", LESSON.Ended(found, same=True))
    assert standings == {"two-breaks": standing, "still-right": "held"}
    assert f"Measured {graphs}. torch captures" in printed
    assert "more" not in printed.split("data-dependent")[1].split("Measured")[0]


def test_a_loop_with_graphs_refutes_that_torch_gives_up() -> None:
    found = LESSON.Looped(Captured(4, 6, (), ()), Captured(2, 6, (), ()))
    LESSON.check("break_in_a_loop", found, "refuted", "torch captures 4 graphs.", "in spite of the break")


def test_a_graph_for_other_numbers_gives_no_answer() -> None:
    changes = [LESSON.Change("other numbers", 1, "n == 1")] + [LESSON.Change("another dtype", 0, "")] * 5
    LESSON.check("new_graph", changes, "refuted", "This run gives no clear answer.")


def test_the_limit_of_this_torch_decides() -> None:
    words = "hit config.recompile_limit (4)"
    modules = [LESSON.Limited("Counting", 4, 4, "self.n == 0", [words]), LESSON.Limited("Buffered", 1, 20, "", [])]
    LESSON.check("at_the_limit", LESSON.AtTheLimit(4, modules), "held", words)


def test_stances_are_shown_with_their_errors() -> None:
    found = [
        LESSON.Stance("eager_on_recompile", 0, 2, []),
        LESSON.Stance("fail_on_recompile", 0, 2, ["Detected recompile", "Detected recompile"]),
        LESSON.Stance("force_eager", 0, 0, []),
    ]
    LESSON.check("after_the_warm_up", found, "held", "Measured 2.", "Detected recompile")


def test_an_export_that_accepts_everything_refutes_its_claims() -> None:
    found = LESSON.Ranged("def forward(x): pass", 6000, {2: "", 64: "", 65: ""}, "", {8: "", 20: ""})
    LESSON.check("range_of_sizes", found, "refuted", "accepts the branch")


def test_the_break_even_counts_each_graph() -> None:
    def price(ratio: float, again_s: float) -> Any:
        return LESSON.Price(Starts(Start(4.0, 10.0, again_s), Start(4.0, 1.0, 0.5), "2026-11-23"), duel(ratio))

    rows = ("1 10 s 200 000", "2 12 s 240 000", "8 24 s 480 000")
    LESSON.check("several_graphs", price(2.0, again_s=2.0), "held", *rows)
    wanted = {"second-costs-too": "held", "second-is-cheaper": "refuted"}
    LESSON.check("several_graphs", price(0.5, again_s=12.0), wanted, "never")
    short = LESSON.Price(Starts(reason="no-kept-times"), duel(2.0))
    LESSON.check("several_graphs", short, "skipped", "no-kept-times")


@pytest.mark.parametrize(
    ("ratio", "standing", "words"), [(1.6, "held", "which fusion had avoided"), (0.9, "refuted", "is faster")]
)
def test_the_cost_of_a_break_follows_the_duel(ratio: float, standing: str, words: str) -> None:
    found = LESSON.Split((1, 2), duel(ratio))
    LESSON.check("cost_of_a_break", found, {"two-loops": "held", "break-costs": standing}, words)


def test_a_profile_counts_operations_and_regions() -> None:
    region = Operator("Torch-Compiled Region: 0/0", 1, 1e-5, 1e-5)
    plain = (Operator("aten::mul", 4, 1e-5, 1e-5), Operator("aten::add", 4, 1e-5, 1e-5))
    found = LESSON.Profiled(plain, (region,), (region, Operator("Torch-Compiled Region: 1/0", 1, 1e-5, 1e-5)))
    LESSON.check("profile_of_compiled_code", found, "held", "Measured None.")
    unfused, words = LESSON.Profiled(plain, plain, plain), "still runs some operations one by one"
    LESSON.check("profile_of_compiled_code", unfused, {}, words, "Measured 8.")


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

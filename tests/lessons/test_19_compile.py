"""Tests of the explanations of lesson 19, for made-up results."""

import importlib
from typing import Any

import pytest
from sessions import Play, duel, explained

from harness.compilers import Captured, Start, Starts, TorchScriptSupport, captured, unsupported
from harness.profiles import Operator
from lessons.engine.lesson import Lesson

MODULE = importlib.import_module("lessons.19_compile")
OF_CAPTURES = (
    "where_a_graph_ends",
    "breaks_repaired",
    "break_in_a_loop",
    "new_graph",
    "at_the_limit",
    "batch_sizes",
    "after_the_warm_up",
    "compiled_in_a_timer",
    "four_compilers",
)
OF_COMPILERS = ("cost_of_a_break", "profile_of_compiled_code", "several_graphs")


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    assert isinstance(MODULE.lesson, Lesson)
    return MODULE.lesson


@pytest.mark.parametrize("name", OF_CAPTURES)
def test_a_step_is_skipped_on_a_python_that_torch_cannot_compile(
    name: str, prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "unsupported", lambda: "no-such-Python")
    step = next(step for step in lesson.steps if step.name == name)
    assert step(fast=True) is None
    printed, standings = explained(prepare, lesson, name, None)
    assert set(standings.values()) == {"skipped"}
    assert "no-such-Python" in printed


@pytest.mark.parametrize("name", OF_COMPILERS)
def test_a_step_is_skipped_without_a_compiler(
    name: str, prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "cannot_compile", lambda: "a C++ compiler is missing")
    step = next(step for step in lesson.steps if step.name == name)
    assert step(fast=True) is None
    printed, standings = explained(prepare, lesson, name, None)
    assert set(standings.values()) == {"skipped"}
    assert "If nothing is missing, this step shows" in printed


@pytest.mark.parametrize(("graphs", "answer", "standing"), [(3, "3", "held"), (1, "1", "refuted")])
def test_the_graphs_are_counted(prepare: Play, lesson: Lesson, graphs: int, answer: str, standing: str) -> None:
    found = Captured(graphs, 5, ("data-dependent\nmore",), ("if y.sum() > 100:",))
    printed, standings = explained(prepare, lesson, "where_a_graph_ends", MODULE.Ended(found, same=True))
    assert standings == {"two-breaks": standing, "still-right": "held"}
    assert f"Measured {answer}. torch captures" in printed
    assert "data-dependent" in printed
    assert "more" not in printed.split("data-dependent")[1].split("Measured")[0]


def test_a_loop_with_graphs_refutes_that_torch_gives_up(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.Looped(Captured(4, 6, (), ()), Captured(2, 6, (), ()))
    printed, standings = explained(prepare, lesson, "break_in_a_loop", found)
    assert standings == {"loop-skipped": "refuted", "after-is-whole": "refuted"}
    assert "Measured 4. torch captures 4 graphs." in printed
    assert "in spite of the break" in printed


def test_a_graph_for_other_numbers_gives_no_answer(prepare: Play, lesson: Lesson) -> None:
    changes = [MODULE.Change("other numbers", 1, "n == 1")] + [MODULE.Change("another dtype", 0, "")] * 5
    printed, standings = explained(prepare, lesson, "new_graph", changes)
    assert standings == {"numbers-are-free": "refuted", "others-compile": "refuted"}
    assert "This run gives no clear answer." in printed


def test_the_limit_of_this_torch_decides(prepare: Play, lesson: Lesson) -> None:
    modules = [
        MODULE.Limited("Counting", 4, 4, "self.n == 0", ["hit config.recompile_limit (4)"]),
        MODULE.Limited("Buffered", 1, 20, "", []),
    ]
    printed, standings = explained(prepare, lesson, "at_the_limit", MODULE.AtTheLimit(4, modules))
    assert set(standings.values()) == {"held"}
    assert "hit config.recompile_limit (4)" in printed


def test_stances_are_shown_with_their_errors(prepare: Play, lesson: Lesson) -> None:
    found = [
        MODULE.Stance("eager_on_recompile", 0, 2, []),
        MODULE.Stance("fail_on_recompile", 0, 2, ["Detected recompile", "Detected recompile"]),
        MODULE.Stance("force_eager", 0, 0, []),
    ]
    printed, standings = explained(prepare, lesson, "after_the_warm_up", found)
    assert set(standings.values()) == {"held"}
    assert "Measured 2." in printed
    assert "Detected recompile" in printed


def test_an_export_that_accepts_everything_refutes_its_claims(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.Ranged("def forward(x): pass", 6000, {2: "", 64: "", 65: ""}, "", {8: "", 20: ""})
    printed, standings = explained(prepare, lesson, "range_of_sizes", found)
    assert set(standings.values()) == {"refuted"}
    assert "accepts the branch" in printed


def price(ratio: float, again_s: float) -> Any:
    return MODULE.Price(Starts(Start(4.0, 10.0, again_s), Start(4.0, 1.0, 0.5), "2026-11-23"), duel(ratio))


def test_the_break_even_counts_each_graph(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "several_graphs", price(2.0, again_s=2.0))
    assert set(standings.values()) == {"held"}
    for row in ("1 10 s 200 000", "2 12 s 240 000", "8 24 s 480 000"):
        assert row in printed


def test_compiling_that_saves_nothing_never_pays_off(prepare: Play, lesson: Lesson) -> None:
    printed, standings = explained(prepare, lesson, "several_graphs", price(0.5, again_s=12.0))
    assert standings == {"second-costs-too": "held", "second-is-cheaper": "refuted"}
    assert printed.count("never") == 3


def test_a_short_run_without_kept_times_skips_the_prices(prepare: Play, lesson: Lesson) -> None:
    found = MODULE.Price(Starts(reason="no-kept-times"), duel(2.0))
    printed, standings = explained(prepare, lesson, "several_graphs", found)
    assert set(standings.values()) == {"skipped"}
    assert "no-kept-times" in printed


@pytest.mark.parametrize(
    ("ratio", "standing", "words"), [(1.6, "held", "which fusion had avoided"), (0.9, "refuted", "is faster")]
)
def test_the_cost_of_a_break_follows_the_duel(
    prepare: Play, lesson: Lesson, ratio: float, standing: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "cost_of_a_break", MODULE.Split((1, 2), duel(ratio)))
    assert standings == {"two-loops": "held", "break-costs": standing}
    assert words in printed


def test_a_profile_counts_operations_and_regions(prepare: Play, lesson: Lesson) -> None:
    region = Operator("Torch-Compiled Region: 0/0", 1, 1e-5, 1e-5)
    plain = (Operator("aten::mul", 4, 1e-5, 1e-5), Operator("aten::add", 4, 1e-5, 1e-5))
    found = MODULE.Profiled(plain, (region,), (region, Operator("Torch-Compiled Region: 1/0", 1, 1e-5, 1e-5)))
    printed, standings = explained(prepare, lesson, "profile_of_compiled_code", found)
    assert set(standings.values()) == {"held"}
    assert "Measured None." in printed
    printed, standings = explained(prepare, lesson, "profile_of_compiled_code", MODULE.Profiled(plain, plain, plain))
    assert "still runs some operations one by one" in printed
    assert "Measured 8." in printed


def table(**results: str) -> dict[str, dict[str, str]]:
    return {f"function_{number}": dict(results) for number in range(8)}


def test_results_of_torchscript_are_counted(prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "torchscript_support", lambda: TorchScriptSupport(True))
    found = table(script="refused", trace="wrong", compile="right", export="refused")
    printed, standings = explained(prepare, lesson, "four_compilers", found)
    assert set(standings.values()) == {"held"}
    assert "Measured 0 to 2." in printed
    found = table(script="right", trace="right", compile="wrong", export="wrong")
    printed, standings = explained(prepare, lesson, "four_compilers", found)
    assert set(standings.values()) == {"refuted"}
    assert "Measured 6 to 8." in printed


def test_without_torchscript_its_claims_are_skipped(
    prepare: Play, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "torchscript_support", lambda: TorchScriptSupport(False, "no-TorchScript"))
    printed, standings = explained(prepare, lesson, "four_compilers", table(compile="right", export="right"))
    assert standings == {
        "script-refuses": "skipped",
        "trace-errs": "skipped",
        "compile-takes-all": "held",
        "export-never-errs": "held",
    }
    assert "no-TorchScript" in printed


@pytest.mark.skipif(bool(unsupported()), reason=unsupported())
def test_a_break_in_a_called_function_leaves_the_graphs_of_the_loop() -> None:
    """The explanation states that torch can still compile the functions that the loop calls."""

    def layer(x: Any, log: Any) -> Any:
        x = x * 2
        log.info("mean")
        return x

    def loop(x: Any, log: Any) -> Any:
        for _ in range(3):
            x = layer(x, log)
        return x

    assert captured(loop, MODULE.torch.ones(3), MODULE.logging.getLogger("train")).graphs >= 1

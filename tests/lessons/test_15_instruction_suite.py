"""Tests of the texts of lesson 15 about the compiled form: faster, slower, or not measured."""

import importlib
from collections.abc import Mapping

import pytest
from sessions import Play, explained

from harness.machine.environment import Environment
from harness.suite import TimerArgs
from harness.suite.benchmark import Benchmark
from harness.suite.results import Result, Suite, SuiteSettings
from lessons.engine.lesson import Lesson


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    whole = importlib.import_module("lessons.15_instruction_suite").lesson
    assert isinstance(whole, Lesson)
    return whole


def suite(compiled: Mapping[str, object], eager: tuple[float, float] = (10e-6, 10.1e-6)) -> Suite:
    """Return a suite with two results of each forward form in Python. `compiled` are fields of the compiled results."""
    results = []
    for number, label in enumerate(("first", "second")):
        times = (eager[number],)
        results.append(Result.of(Benchmark((label,), "Eager", "Forward", TimerArgs("x"))))
        results[-1] = _with(results[-1], {"times_s": times, "instructions": (500, 400), "number": 1})
        known = {name: value[number] if isinstance(value, tuple) else value for name, value in compiled.items()}
        results.append(_with(Result.of(Benchmark((label,), "Compiled", "Forward", TimerArgs("x"))), known))
    return Suite(Environment.capture(ask_cuda=False), SuiteSettings(), tuple(results))


def _with(result: Result, known: Mapping[str, object]) -> Result:
    return Result.from_dict({**result.to_dict(), **known})


@pytest.mark.parametrize(
    ("times", "standing", "words"),
    [
        (([40e-6], [41e-6]), "held", "guards first"),
        (([2e-6], [2.1e-6]), "refuted", "faster even on small tensors"),
        (([5e-6], [40e-6]), "inconclusive", "does not show whether the compiled or the eager version is faster"),
    ],
)
def test_what_compiling_does_to_a_small_call_is_told_as_it_came_out(
    prepare: Play, lesson: Lesson, times: tuple[list[float], list[float]], standing: str, words: str
) -> None:
    printed, standings = explained(prepare, lesson, "every_form", suite({"times_s": times}))
    assert standings["compiled-is-no-gift"] == standing
    assert words in printed


@pytest.mark.parametrize("field", ["left_out", "failure"])
def test_a_compiled_form_that_was_not_measured_skips_its_claim_with_the_reason(
    prepare: Play, lesson: Lesson, field: str
) -> None:
    printed, standings = explained(prepare, lesson, "every_form", suite({field: "no compiler here"}))
    assert standings["compiled-is-no-gift"] == "skipped"
    assert "skipped: no compiler here" in printed
    assert "This run gives no clear answer" in printed


def test_a_short_run_says_that_it_leaves_the_compiled_form_out(prepare: Play, lesson: Lesson) -> None:
    whole = suite({})
    short = Suite(whole.environment, whole.settings, tuple(one for one in whole.results if one.runtime == "Eager"))
    printed, standings = explained(prepare, lesson, "every_form", short)
    assert standings["compiled-is-no-gift"] == "skipped"
    assert "without --fast" in printed


def test_the_definition_asks_for_no_torchscript(lesson: Lesson) -> None:
    module = importlib.import_module("lessons.15_instruction_suite")
    group = module.one_weight()
    assert (group.compiled, group.torchscript) == (True, False)
    assert lesson.longest_s == (90, 30)

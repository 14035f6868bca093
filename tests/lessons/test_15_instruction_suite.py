"""Tests of the texts of lesson 15 about the compiled form: faster, slower, or not measured."""

from collections.abc import Mapping
from dataclasses import asdict, replace

from sessions import MadeUp

from harness.machine.environment import Environment
from harness.suite import TimerArgs
from harness.suite.benchmark import Benchmark
from harness.suite.results import Result, Suite, SuiteSettings

LESSON = MadeUp("15_instruction_suite")
STEP, CLAIM = "every_form", "compiled-is-no-gift"


def suite(compiled: Mapping[str, object]) -> Suite:
    """Return a suite with two results of each forward form in Python. `compiled` are fields of the compiled results."""
    results = []
    for number, label in enumerate(("first", "second")):
        eager, other = (
            Result.of(Benchmark((label,), runtime, "Forward", TimerArgs("x"))) for runtime in ("Eager", "Compiled")
        )
        eager_s = (10e-6, 10.1e-6)[number]
        known = {name: value[number] if isinstance(value, tuple) else value for name, value in compiled.items()}
        measured = {"times_s": (eager_s,), "instructions": (500, 400), "number": 1}
        results += [Result.from_dict(asdict(each) | more) for each, more in ((eager, measured), (other, known))]
    return Suite(Environment.capture(ask_cuda=False), SuiteSettings(), tuple(results))


def test_what_compiling_does_to_a_small_call_is_told_as_it_came_out() -> None:
    unclear = "does not show whether the compiled or the eager version is faster"
    for times, standing, words in (
        (([40e-6], [41e-6]), "held", "guards first"),
        (([2e-6], [2.1e-6]), "refuted", "faster even on small tensors"),
        (([5e-6], [40e-6]), "inconclusive", unclear),
    ):
        LESSON.check(STEP, suite({"times_s": times}), {CLAIM: standing}, words)


def test_a_compiled_form_that_was_not_measured_skips_its_claim_with_the_reason() -> None:
    for field in ("left_out", "failure"):
        found = suite({field: "no compiler here"})
        words = "This run gives no clear answer"
        LESSON.check(STEP, found, {CLAIM: "skipped"}, "skipped: no compiler here", words)
    whole = suite({})
    short = replace(whole, results=tuple(one for one in whole.results if one.runtime == "Eager"))
    LESSON.check(STEP, short, {CLAIM: "skipped"}, "without --fast")

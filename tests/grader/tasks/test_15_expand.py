from importlib import import_module
from typing import Any

import pytest

from grader.values import Value

grouped = import_module("grader.tasks.lesson_15_instruction_suite.grouped")


def drawn(seed: int = 3) -> tuple[Any, ...]:
    return tuple(grouped.draw_scenarios(grouped.np.random.default_rng(seed)))


def test_the_truth_agrees_with_the_suite_on_everything_but_how_cpp_is_called() -> None:
    from harness.suite import GroupedSetup, GroupedStmts, materialize
    from harness.suite.benchmark import LANGUAGES

    for scenario in drawn():
        given = scenario.benchmark
        setup = GroupedSetup(given["setup"]["py"], given["setup"]["cpp"], given["setup"]["global"])
        threads = given["num_threads"]
        scripted = given["torchscript"] and given["py"] is not None
        group = GroupedStmts(
            given["py"],
            given["cpp"],
            setup,
            given["signature"],
            torchscript=scripted,
            autograd=given["autograd"],
            num_threads=tuple(threads) if isinstance(threads, list) else threads,
        )
        flat = materialize({tuple(given["label"]): group})
        ours = [
            (kind.runtime.value, kind.autograd.value, language, args.num_threads, args.stmt.splitlines()[-1])
            for _, kind, args in flat
            if (language := LANGUAGES[kind.language])
            and (kind.runtime.value == "Eager" or (language == "Python" and given["py"]))
        ]
        truth = [
            (row["runtime"], row["autograd"], row["language"], row["num_threads"], row["stmt"].splitlines()[-1])
            for row in scenario.right
            if row["runtime"] == "Eager" or row["language"] == "Python"
        ]
        assert truth == ours


def test_each_scenario_has_its_own_trap_and_a_list_that_is_not_empty() -> None:
    scenarios = drawn()
    assert len({scenario.title for scenario in scenarios}) == len(scenarios)
    assert all(scenario.right for scenario in scenarios)


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "a list of benchmarks"), ([], "benchmarks"), ([{}], "a dict of label"), ([3], "a dict of label")],
)
def test_an_answer_of_another_kind_is_told_what_is_wanted(answer: Value, said: str) -> None:
    mismatch = drawn()[0].judge(answer)
    assert said in mismatch.expected

from playing import find_task, play

from grader.task import Scenario
from grader.values import Value

TASK = find_task("01_correct_first", "agrees")
NOTHING = "def agrees(f, g, cases):\n    pass\n"
SHOWN_BY = {
    "in_single_precision": ("dtype", "float64"),
    "through_float64": ("dtype", "int64"),
    "without_strides": ("about", "strided"),
    "without_empty_rows": ("about", "rows of nothing"),
}


def by_implementation(seed: int) -> dict[str, Scenario]:
    return {scenario.implementation.__name__: scenario for scenario in play(TASK, NOTHING, seed).scenarios}  # type: ignore[attr-defined]


def cases_of(scenario: Scenario) -> list[dict[str, Value]]:
    cases = scenario.arguments[2]
    assert isinstance(cases, list)
    return cases


def test_the_first_case_that_shows_a_fault_stands_early_and_late_in_every_exam() -> None:
    """Otherwise the cost of a submission that stops at the first difference would depend on luck."""
    for seed in range(3):
        faulty = [scenario for scenario in play(TASK, NOTHING, seed).scenarios if scenario.differing]  # type: ignore[attr-defined]
        places = sorted(min(scenario.differing) / len(cases_of(scenario)) for scenario in faulty)  # type: ignore[attr-defined]
        assert places[0] <= 0.3 / len(places)
        assert 0.2 < places[-1] <= 0.3


def test_a_planted_fault_shows_where_it_was_planted_and_nowhere_else() -> None:
    drawn = by_implementation(0)
    for name, (key, value) in SHOWN_BY.items():
        differing = [cases_of(drawn[name])[number] for number in drawn[name].differing]  # type: ignore[attr-defined]
        assert {case[key] for case in differing} == {value}


def test_an_answer_counts_only_after_the_calls_that_prove_it() -> None:
    for name, answer, words in (
        ("in_pairs", True, "after calls of f and g on every case"),
        ("without_strides", False, "after a case that shows a difference"),
    ):
        scenario = by_implementation(0)[name]
        mismatch = scenario.judge(answer)
        assert mismatch is not None
        assert words in mismatch.expected
        for case in cases_of(scenario):
            scenario.call("g", (case,))
            scenario.call("f", (case,))
        assert scenario.judge(answer) is None
        assert scenario.judge(not answer) is not None


def test_what_g_spoils_f_sees_spoilt_and_only_there() -> None:
    scenario = by_implementation(0)["in_place"]
    case = next(case for case in cases_of(scenario) if case["about"] == "ordinary" and case["dtype"] == "float64")
    first = scenario.call("f", (case,))
    assert scenario.call("f", (case,)) == first
    scenario.call("g", (case,))
    assert scenario.call("f", (case,)) != first
    assert by_implementation(0)["in_place"].call("f", (case,)) == first


def test_asking_until_numbers_overflow_breaks_nothing() -> None:
    scenario = by_implementation(0)["in_place"]
    for case in {case["dtype"]: case for case in cases_of(scenario)}.values():
        for _ in range(1200):
            scenario.call("g", (case,))
        scenario.call("f", (case,))

from importlib import import_module

from playing import find_task, play

from grader.task import Scenario
from grader.values import Value

TASK = find_task("01_correct_first", "agrees")
NOTHING = "def agrees(f, g, cases):\n    pass\n"
KIND = {"in_single_precision": "float64", "through_float64": "int64"}
ABOUT = {"without_strides": "strided", "without_empty_rows": "rows of nothing"}
scenarios = import_module("grader.tasks.lesson_01_correct_first.scenarios")


def by_implementation(seed: int) -> dict[str, Scenario]:
    return {scenario.implementation.__name__: scenario for scenario in play(TASK, NOTHING, seed).scenarios}  # type: ignore[attr-defined]


def cases_of(scenario: Scenario) -> list[dict[str, Value]]:
    cases = scenario.arguments[2]
    assert isinstance(cases, list)
    return cases


def see_everything(scenario: Scenario) -> None:
    for case in cases_of(scenario):
        for name in ("g", "f"):
            scenario.call(name, (case,))


def test_a_third_are_right_and_the_others_wrong_in_random_order() -> None:
    drawn = by_implementation(0)
    assert {name for name, scenario in drawn.items() if not scenario.differing} == {  # type: ignore[attr-defined]
        "one_after_the_other",
        "in_pairs",
        "exactly",
    }
    assert len(drawn) == 9
    assert list(drawn) != list(by_implementation(1))


def test_the_first_case_that_shows_a_fault_stands_early_and_late_in_every_exam() -> None:
    """Otherwise the cost of a submission that stops at the first difference would depend on luck."""
    for seed in range(3):
        faulty = [scenario for scenario in play(TASK, NOTHING, seed).scenarios if scenario.differing]  # type: ignore[attr-defined]
        places = sorted(min(scenario.differing) / len(cases_of(scenario)) for scenario in faulty)  # type: ignore[attr-defined]
        assert places[0] <= 0.3 / len(places)
        assert 0.2 < places[-1] <= 0.3


def test_a_planted_fault_shows_where_it_was_planted_and_nowhere_else() -> None:
    drawn = by_implementation(0)
    for name, dtype in KIND.items():
        differing = [cases_of(drawn[name])[number] for number in drawn[name].differing]  # type: ignore[attr-defined]
        assert {case["dtype"] for case in differing} == {dtype}
    for name, about in ABOUT.items():
        differing = [cases_of(drawn[name])[number] for number in drawn[name].differing]  # type: ignore[attr-defined]
        assert {case["about"] for case in differing} == {about}


def test_true_counts_only_when_f_and_g_have_seen_every_case() -> None:
    scenario = by_implementation(0)["in_pairs"]
    mismatch = scenario.judge(answer=True)
    assert mismatch is not None
    assert "after calls of f and g on every case" in mismatch.expected
    see_everything(scenario)
    assert scenario.judge(answer=True) is None
    assert scenario.judge(answer=False) is not None


def test_false_counts_only_when_a_case_has_shown_it() -> None:
    scenario = by_implementation(0)["without_strides"]
    mismatch = scenario.judge(answer=False)
    assert mismatch is not None
    assert "after a case that shows a difference" in mismatch.expected
    see_everything(scenario)
    assert scenario.judge(answer=False) is None
    assert scenario.judge(answer=True) is not None


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

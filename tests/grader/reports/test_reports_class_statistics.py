from dataclasses import replace
from pathlib import Path

import generated_class
import pytest
import small_tasks
from classroom import CALL, DOT
from test_reports_gradescope import roll, submission

from grader.course.roll import Roll
from grader.kinds.simulated import CALLS
from grader.kinds.timing import TIME
from grader.records import Attempt, Speed, Status
from grader.reports import class_statistics, known_tasks
from grader.reports.student_page import next_tier
from grader.task import Tier

GUIDES = {DOT: small_tasks.negation(Path(), tiers=(Tier(2.0, 0.6), Tier(8.0, 1.0)))}


def failing(*cases: str) -> Roll:
    """Return a class in which each student fails on one of these cases. An empty string is a right answer."""
    class_ = roll(*(submission("wrong" if case else "right", f"s{n}") for n, case in enumerate(cases)))
    told = []
    for case, report in zip(cases, class_.reports, strict=True):
        verdict = report.verdicts[0]
        if case:
            attempt = replace(verdict.attempt, rationale=f"Fails 7 of 60 cases. The smallest: {case}\n  expected 1")
            report = replace(report, verdicts=(replace(verdict, attempt=attempt),))  # noqa: PLW2901 - as it is graded
        told.append(report)
    return replace(class_, reports=tuple(told))


def test_the_case_that_most_fail_on_comes_first_with_its_share_and_explanation() -> None:
    first, second = class_statistics.hardest(failing("one row", "empty", "one row", ""))
    assert (first.task, first.case, first.students, first.share) == (DOT, "one row", 2, "50 %")
    assert len(class_statistics.hardest(failing(*(f"case {n}" for n in range(9))), most=4)) == 4
    assert (first.ends, first.why) == ("2 wrong", "Sum, not mean.")
    assert second.case == "empty"


def test_a_fault_of_ours_and_what_named_no_case_are_nobodys_hard_case() -> None:
    class_ = failing("one row", "")
    report = class_.reports[1]
    ours = replace(report.verdicts[0], attempt=Attempt(Status.GRADER_ERROR, "The smallest case: x"))
    class_ = replace(class_, reports=(class_.reports[0], replace(report, verdicts=(ours,))))
    (only,) = class_statistics.hardest(class_)
    assert (only.students, only.share) == (1, "100 %")


def test_an_impossible_ratio_is_left_out_but_its_answers_were_right() -> None:
    dot, *_ = class_statistics.tasks(roll(submission("right"), submission("beyond", "bob")), GUIDES)
    assert (dot.right, dot.ratio, dot.ends) == ("100 %", "3.00×", "1 right, 1 right, in an impossible time")


def test_a_task_has_its_points_and_ratios_with_the_tiers_marked() -> None:
    dot, call, _ = class_statistics.tasks(roll(submission("right"), submission("wrong", "bob")), GUIDES)
    assert (dot.graded, dot.right, dot.points, dot.ratio, dot.ends) == (
        2,
        "50 %",
        "3 of 10",
        "3.00×",
        "1 right, 1 wrong",
    )
    assert dot.ratio_chart
    assert dot.ratio_chart.label.endswith("Marks: tier 2×, tier 8×.")
    assert dot.points_chart
    assert (call.task, call.points_chart, call.ratio_chart, call.ends) == (CALL, None, None, "none graded")


def test_a_chart_says_how_its_ratios_were_measured() -> None:
    class_ = roll(submission("right"), submission("right", "bob"))
    for costs, said in (
        ((CALLS, CALLS), "01_dot.batched, counted"),
        ((TIME, TIME), "01_dot.batched, measured with a clock"),
        ((CALLS, TIME), "01_dot.batched, counted or measured with a clock"),
    ):
        reports = tuple(
            replace(report, verdicts=(replace(report.verdicts[0], cost=cost),))
            for report, cost in zip(class_.reports, costs, strict=True)
        )
        dot, *_ = class_statistics.tasks(replace(class_, reports=reports), GUIDES)
        assert dot.ratio_chart
        assert said in dot.ratio_chart.label


def test_a_ratio_that_is_no_number_is_left_out() -> None:
    class_ = roll(submission("right"))
    report = class_.reports[0]
    attempt = replace(report.verdicts[0].attempt, speed=Speed(float("inf"), 1, float("inf"), 3, 1))
    verdict = replace(report.verdicts[0], attempt=attempt)
    (dot, *_) = class_statistics.tasks(replace(class_, reports=(replace(report, verdicts=(verdict,)),)), {})
    assert (dot.ratio, dot.ratio_chart) == ("n/a", None)


@pytest.mark.parametrize(("points", "expected"), [([0, 5, 10], [1, *[0] * 4, 1, *[0] * 3, 1]), ([10.0], [0] * 9 + [1])])
def test_all_points_are_spread_over_tenths(points: list[float], expected: list[int]) -> None:
    found = class_statistics.totals(points, 10)
    assert found
    assert [students for _, students in found[1]] == expected
    assert found[1][0][0] == "0 to 1"


def test_a_class_that_another_kit_graded_is_given_no_tiers_of_this_one() -> None:
    mine = generated_class.roll(1)
    assert set(known_tasks(mine)) == {task.task for task in mine.tasks}
    assert known_tasks(replace(mine, kit="0.0.0")) == {}


def test_the_guide_tells_how_far_the_next_tier_is() -> None:
    guide = GUIDES[DOT]
    assert next_tier(guide, Speed(4, 3.9, 4.1, 9, 1)) == "8× gives 10 points. That is 2.00 times the measured ratio."
    assert next_tier(guide, Speed(9, 8.9, 9.1, 9, 2)) == "There is no next tier: you reached the top tier."
    assert next_tier(replace(guide, tiers=()), Speed(1, 1, 1, 9, 0)) == ""

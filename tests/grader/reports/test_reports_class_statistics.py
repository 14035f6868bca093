import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import small_tasks
from classroom import CALL, DOT
from exported import changed, class_of, submission

from grader.course.roll import Roll, Span
from grader.kinds.simulated import CALLS
from grader.kinds.timing import TIME
from grader.records import Attempt, Control, Speed, Status
from grader.reports import charts
from grader.reports.class_statistics import PAUSE, SESSIONS, hardest, noise, sessions, tasks, totals
from grader.task import Tier
from harness.charts.pictures import Mark

GUIDES = {DOT: small_tasks.negation(Path(), tiers=(Tier(2.0, 0.6), Tier(8.0, 1.0)))}
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def failing(*cases: str) -> Roll:
    """Return a class in which each student fails on one of these cases. An empty string is a right answer."""
    class_ = class_of(*(submission(f"s{n}", "wrong" if case else "right") for n, case in enumerate(cases)))
    for number, case in enumerate(cases):
        if case:
            told = f"Fails 7 of 60 cases. The smallest: {case}\n  expected 1"
            class_ = changed(class_, number, rationale=told)
    return class_


def test_the_case_that_most_fail_on_comes_first_with_its_share_and_explanation() -> None:
    first, second = hardest(failing("one row", "empty", "one row", ""))
    assert (first.task, first.case, first.students, first.share) == (DOT, "one row", 2, "50 %")
    assert (first.ends, first.why) == ("2 wrong", "Sum, not mean.")
    assert second.case == "empty"
    assert len(hardest(failing(*(f"case {n}" for n in range(9))), most=4)) == 4
    class_ = failing("one row", "")
    report = class_.reports[1]
    ours = replace(report.verdicts[0], attempt=Attempt(Status.GRADER_ERROR, "The smallest case: x"))
    (only,) = hardest(replace(class_, reports=(class_.reports[0], replace(report, verdicts=(ours,)))))
    assert (only.students, only.share) == (1, "100 %"), "an internal error is not a hard case"


def test_a_task_has_its_points_and_ratios_with_the_tiers_marked() -> None:
    class_ = class_of(submission("ada"), submission("bob", "wrong"), submission("eve", "beyond"))
    dot, call, _ = tasks(class_, GUIDES)
    assert (dot.graded, dot.right, dot.points) == (3, "67 %", "4 of 10")
    assert dot.ratio == "3.00×", "an impossible ratio is left out"
    assert dot.ends == "1 right, 1 wrong, 1 right, in an impossible time"
    assert dot.ratio_chart
    assert dot.ratio_chart.label.endswith("Marks: tier 2×, tier 8×.")
    assert dot.points_chart
    assert (call.task, call.points_chart, call.ratio_chart, call.ends) == (CALL, None, None, "none graded")
    infinite = changed(class_of(submission()), speed=Speed(float("inf"), 1, float("inf"), 3, 1))
    (dot, *_) = tasks(infinite, {})
    assert (dot.ratio, dot.ratio_chart) == ("n/a", None)


def test_a_chart_says_how_its_ratios_were_measured() -> None:
    class_ = class_of(submission("ada"), submission("bob"))
    for costs, said in (
        ((CALLS, CALLS), "01_dot.batched, counted:"),
        ((TIME, TIME), "01_dot.batched, measured with a clock:"),
        ((CALLS, TIME), "01_dot.batched, counted or measured with a clock:"),
    ):
        both = zip(class_.reports, costs, strict=True)
        reports = tuple(replace(one, verdicts=(replace(one.verdicts[0], cost=cost),)) for one, cost in both)
        dot, *_ = tasks(replace(class_, reports=reports), GUIDES)
        assert dot.ratio_chart
        assert said in dot.ratio_chart.label


def test_all_points_are_spread_over_tenths() -> None:
    for points, expected in ([0, 5, 10], [1, *[0] * 4, 1, *[0] * 3, 1]), ([10.0], [0] * 9 + [1]):
        found = totals(points, 10)
        assert found
        assert [students for _, students in found[1]] == expected
        assert found[1][0][0] == "0 to 1"


def spans(*begins_s: float, each_s: float = 10) -> list[Span]:
    return [
        Span(f"s{n}", "01_dot", NOON + timedelta(seconds=at), NOON + timedelta(seconds=at + each_s))
        for n, at in enumerate(begins_s)
    ]


def test_a_session_has_its_pace_and_ends_at_a_long_pause() -> None:
    (((chart, caption),), earlier) = sessions(spans(0, 0, 10, 10, 20, 20))
    told = "2026-05-04 12:00 to 12:00 UTC: 6 files graded in 30 s, 12 per minute, 2 in parallel on average"
    assert (caption, earlier) == (told, 0)
    assert "6 in 30 s" in chart.label
    pause = PAUSE.total_seconds()
    assert len(sessions(spans(0, pause + 11))[0]) == 2
    assert len(sessions(spans(0, pause + 9))[0]) == 1
    assert len(sessions(spans(0, 1, 3000, each_s=3000))[0]) == 1, "a long grading is no pause"
    shown, earlier = sessions(spans(*(n * 10_000 for n in range(SESSIONS + 3))))
    assert (len(shown), earlier, sessions([])) == (SESSIONS, 3, ((), 0))
    assert shown[0][1].startswith("2026-05-04 20:20 to")


def controlled(same: Sequence[float], voided: int = 0) -> Roll:
    """Return a class with one duel per student. `same` are the control ratios of the baseline to itself."""
    class_ = class_of(*(submission(f"s{number}") for number in range(len(same))))
    for number, value in enumerate(same):
        class_ = changed(class_, number, control=Control(value, value * 1.05, 0.05, True, 0 if number else voided))
    return class_


def test_the_controls_tell_how_noisy_the_machine_was() -> None:
    few, many = noise(controlled([1.001, 1.002, 0.99], voided=2)), noise(controlled([1.0] * 37 + [1.01, 1.01, 1.05]))
    assert few
    assert many
    said = " ".join(few.found)
    for fact in ("3 duels", "is 1.001×", "is 1.051×", "1× is 1 %", "2 duels (40 % of all) were repeated"):
        assert fact in said
    assert "In 95 % of the controls, the ratio of the baseline to itself differs from 1× by at most 1 %." in many.found
    assert "is 5 %" in many.found[2]
    assert many.found[3].startswith("No duel was repeated")
    assert noise(class_of(submission("ada", "wrong"))) is None


def test_over_time_the_controls_stand_in_the_order_they_were_played() -> None:
    late, early = spans(500, 0)
    found = noise(replace(controlled([1.0, 1.02]), spans=(late, early)))
    assert found
    assert found.over_time
    first, second = map(float, re.findall(r'y="([\d.]+)"[^>]*class="interval"', found.over_time.shapes))
    assert first < second, "the earlier control is drawn higher"


def places(chart: charts.Chart, shape: str, css_class: str) -> list[float]:
    return [float(x) for x in re.findall(rf'<{shape} x="([\d.]+)"[^>]*class="{css_class}"', chart.shapes)]


def test_the_ladder_shows_the_interval_among_the_tiers() -> None:
    chart = charts.ladder(3.0, 2.9, 3.1, [Mark(2.0, "tier 2×", "tier"), Mark(4.0, "tier 4×", "tier")], label="Three")
    (interval,), (middle,) = places(chart, "rect", "interval"), places(chart, "rect", "bar")
    low, high = (float(x) for x in re.findall(r'd="M([\d.]+)[^"]*" class="tier"', chart.shapes))
    assert low < interval < middle < high

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from test_reports_gradescope import roll, submission

from grader.course.roll import Roll, Span
from grader.records import Control, Report
from grader.reports import timeline
from grader.reports.timeline import PAUSE, SESSIONS

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def spans(*begins_s: float, each_s: float = 10) -> list[Span]:
    return [
        Span(f"s{n}", "01_dot", NOON + timedelta(seconds=at), NOON + timedelta(seconds=at + each_s))
        for n, at in enumerate(begins_s)
    ]


def test_a_run_is_one_sitting_with_its_pace_and_how_many_lanes_were_busy() -> None:
    ((sitting,), earlier) = timeline.sessions(spans(0, 0, 10, 10, 20, 20))
    assert (sitting.hand_ins, sitting.lasted, sitting.pace, sitting.together) == (6, "30 s", "12", "2")
    assert (sitting.began, sitting.ended, earlier) == ("2026-05-04 12:00", "12:00", 0)
    assert "6 in 30 s" in sitting.chart.label


def test_a_long_pause_begins_a_new_sitting_and_a_long_grading_does_not() -> None:
    pause = PAUSE.total_seconds()
    assert len(timeline.sessions(spans(0, pause + 11))[0]) == 2
    assert len(timeline.sessions(spans(0, pause + 9))[0]) == 1
    assert len(timeline.sessions(spans(0, 1, 3000, each_s=3000))[0]) == 1


def test_of_many_sessions_the_last_are_drawn_and_the_others_counted() -> None:
    sessions, earlier = timeline.sessions(spans(*(n * 10_000 for n in range(SESSIONS + 3))))
    assert (len(sessions), earlier) == (SESSIONS, 3)
    assert sessions[0].began == "2026-05-04 20:20"


def test_nothing_graded_is_no_sitting() -> None:
    assert timeline.sessions([]) == ((), 0)


def controlled(same: Sequence[float], voided: Sequence[int] = ()) -> Roll:
    """Return a class with one duel per student. `same` are the control ratios of the baseline to itself."""
    reports: list[Report] = []
    for number, value in enumerate(same):
        report = roll(submission("right", f"s{number}")).reports[0]
        verdict = report.verdicts[0]
        control = Control(value, value * 1.05, 0.05, True, voided[number] if voided else 0)
        attempt = replace(verdict.attempt, control=control)
        reports.append(replace(report, verdicts=(replace(verdict, attempt=attempt),)))
    class_ = roll(submission("right"))
    return replace(class_, students=tuple(f"s{n}" for n in range(len(same))), reports=tuple(reports))


def test_the_controls_tell_how_restless_the_machine_was() -> None:
    noise = timeline.noise(controlled([1.001, 1.002, 0.99], voided=[0, 2, 0]))
    assert noise
    said = " ".join(noise.found)
    for fact in ("3 duels", "is 1.001×", "is 1.051×", "1× is 1 %", "2 duels (40 % of all) were repeated"):
        assert fact in said


def test_of_many_controls_the_share_within_a_bound_is_told() -> None:
    noise = timeline.noise(controlled([1.0] * 37 + [1.01, 1.01, 1.05]))
    assert noise
    _, most, largest, repeated = noise.found
    assert most.startswith("In 95 % of the controls,")
    assert "at most 1 %" in most
    assert "5 %" in largest
    assert repeated.startswith("No duel was repeated")


def test_over_time_the_controls_stand_in_the_order_they_were_played() -> None:
    class_ = controlled([1.0, 1.02])
    late, early = spans(500, 0)
    class_ = replace(class_, spans=(late, early))
    noise = timeline.noise(class_)
    assert noise
    assert noise.over_time
    first, second = map(float, re.findall(r'y="([\d.]+)"[^>]*class="interval"', noise.over_time.shapes))
    assert first < second, "the earlier control is drawn higher"


def test_a_class_without_a_duel_has_no_noise() -> None:
    assert timeline.noise(roll(submission("wrong"))) is None

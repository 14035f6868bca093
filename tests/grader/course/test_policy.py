from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from grader.course.policy import DAY, CountedAttempt, DateRule, Handed, LatePenalty, Which, candidates, count

DUE = datetime(2026, 11, 20, 22, 59, tzinfo=UTC)
HOUR = timedelta(hours=1)
TWO_DAYS = "2 days late: 20 % are taken off, so 4.8 of the 6 earned points count."
TEN_A_DAY = DateRule(due=DUE, closes=DUE + 7 * DAY, late=LatePenalty(0.1, timedelta(minutes=15), 0.5))

moments = st.one_of(st.none(), st.integers(-200, 400).map(lambda hours: DUE + hours * HOUR))
attempts = st.lists(
    st.builds(
        Handed,
        moments,
        st.one_of(st.none(), st.integers(0, 40).map(lambda quarter: quarter / 4)),
        st.booleans(),
        st.booleans(),
    ),
    max_size=6,
)
rules = st.builds(
    DateRule,
    st.sampled_from(Which),
    st.one_of(st.none(), st.just(DUE)),
    st.one_of(st.none(), st.integers(0, 200).map(lambda hours: DUE + hours * HOUR)),
    st.builds(LatePenalty, st.integers(0, 100).map(lambda part: part / 100), st.timedeltas(timedelta(0), DAY)),
)


def counted(*given_: Handed, rule: DateRule = TEN_A_DAY) -> CountedAttempt:
    found = count(given_, rule)
    assert found
    return found


def test_each_day_begun_takes_its_part_up_to_the_most_and_after_closing_nothing_counts() -> None:
    for late, points, reason in (
        (-HOUR, 6.0, ""),
        (timedelta(minutes=15), 6.0, ""),
        (timedelta(minutes=16), 5.4, "1 day late: 10 % are taken off, so 5.4 of the 6 earned points count."),
        (DAY, 5.4, "1 day late: 10 % are taken off, so 5.4 of the 6 earned points count."),
        (DAY + HOUR, 4.8, TWO_DAYS),
        (6 * DAY, 3.0, "6 days late: 50 % are taken off, so 3 of the 6 earned points count."),
        (7 * DAY, 3.0, "7 days late: 50 % are taken off, so 3 of the 6 earned points count."),
        (7 * DAY + HOUR, 0.0, "This file was handed in after the closing date: 0 of the 6 earned points count."),
    ):
        assert counted(Handed(DUE + late, 6.0)) == CountedAttempt(0, 6.0, points, reason), late
    unknown = "The time of the hand-in is unknown, so the hand-in counts as on time."
    assert counted(Handed(None, 6.0)) == CountedAttempt(0, 6.0, 6.0, unknown)
    assert counted(Handed(None, 6.0), rule=DateRule()).reason == ""


def test_the_attempt_that_the_course_chose_counts() -> None:
    three = (Handed(DUE, 4.0), Handed(DUE + HOUR, 10.0), Handed(DUE + DAY + HOUR, 6.0))
    late = "1 day late: 10 % are taken off, so 9 of the 10 earned points count."
    for which, index, points, reason in (
        (Which.FIRST, 0, 4.0, "Attempt 1 of 3 counts: the first."),
        (Which.BEST, 1, 9.0, f"Attempt 2 of 3 counts: the best. {late}"),
        (Which.LATEST, 2, 4.8, f"Attempt 3 of 3 counts: the latest. {TWO_DAYS}"),
    ):
        found = counted(*three, rule=replace(TEN_A_DAY, which=which))
        assert found == CountedAttempt(index, three[index].points, points, reason)


def test_the_best_is_the_best_after_lateness() -> None:
    three = (Handed(DUE, 6.0), Handed(DUE + 5 * DAY, 10.0))
    assert counted(*three, rule=replace(TEN_A_DAY, which=Which.BEST)).points == 6.0


def test_the_latest_in_time_goes_before_one_after_closing() -> None:
    assert counted(Handed(DUE, 6.0), Handed(DUE + 8 * DAY, 10.0)).points == 6.0


def test_a_refused_file_is_no_attempt_beside_one_that_could_be_taken() -> None:
    for which in Which:
        rule = DateRule(which)
        assert counted(Handed(DUE, 0.0, refused=True), Handed(DUE + HOUR, 6.0), rule=rule).points == 6.0
        assert counted(Handed(DUE, 0.0, refused=True), rule=rule).points == 0.0


def test_what_was_replaced_counts_for_the_best_and_the_first_alone() -> None:
    two = (Handed(DUE - HOUR, 10.0, there=False), Handed(DUE, 6.0))
    points = [counted(*two, rule=DateRule(which)).points for which in (Which.LATEST, Which.BEST, Which.FIRST)]
    assert points == [6.0, 10.0, 10.0]


def test_an_attempt_without_a_grade_leaves_its_student_without_one() -> None:
    assert counted(Handed(DUE, None)) == CountedAttempt(0, None, None, "")
    assert counted(Handed(DUE, 6.0), Handed(DUE + HOUR, None)).points is None
    assert count((), TEN_A_DAY) is None


@given(attempts, rules)
def test_never_more_counts_than_was_earned_and_never_less_than_nothing(given_: list[Handed], rule: DateRule) -> None:
    found, may = count(given_, rule), candidates(given_, rule)
    assert (found is None) == (not may)
    assert found is None or found.index in may
    assert rule.which is Which.BEST or len(may) <= 1
    if found and found.points is not None and found.raw is not None:
        assert 0 <= found.points <= found.raw
        assert found.raw == given_[found.index].points
        assert found.points == found.raw or "off" in found.reason or "closing" in found.reason


@given(attempts, rules)
def test_the_best_is_never_worse_than_the_latest_or_the_first(given_: list[Handed], rule: DateRule) -> None:
    graded = [replace(one, points=0.0 if one.refused else one.points or 0.0) for one in given_]
    points = {which: count(graded, replace(rule, which=which)) for which in Which}
    best = points[Which.BEST]
    for other in (points[Which.LATEST], points[Which.FIRST]):
        if other and other.points is not None:
            assert best
            assert best.points is not None
            assert best.points >= other.points


@given(attempts.filter(bool), rules, st.randoms())
def test_the_order_in_which_attempts_are_listed_changes_nothing(
    given_: list[Handed], rule: DateRule, random: object
) -> None:
    apart = [replace(one, at=DUE + place * HOUR) for place, one in enumerate(given_)]
    mixed = list(apart)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = count(apart, rule), count(mixed, rule)
    assert (one is None) == (other is None)
    if one and other:
        assert (apart[one.index], one.points, one.reason) == (mixed[other.index], other.points, other.reason)


@given(moments, st.integers(0, 40), rules, st.timedeltas(timedelta(0), 9 * DAY))
def test_later_is_never_worth_more_and_an_extension_never_less(
    at: datetime | None, points: int, rule: DateRule, more: timedelta
) -> None:
    now = counted(Handed(at, points), rule=rule).points
    assert now is not None
    if at:
        later = counted(Handed(at + more, points), rule=rule).points
        assert later is not None
        assert later <= now
    if rule.due:
        closes = rule.closes + more if rule.closes else None
        extended = counted(Handed(at, points), rule=replace(rule, due=rule.due + more, closes=closes)).points
        assert extended is not None
        assert extended >= now

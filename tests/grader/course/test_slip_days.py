"""Slip days are spent where they save most."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from grader.course.slip_days import LateLesson, best

FIRST = datetime(2026, 11, 20, tzinfo=UTC)
steps = st.lists(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2)]), max_size=4)


@st.composite
def late_lessons(draw: st.DrawFn) -> list[LateLesson]:
    """Draw lessons in any order, some of which are due at the same time."""
    found = []
    for number in draw(st.permutations(range(draw(st.integers(0, 4))))):
        gains = [Fraction(0)]
        for step in draw(steps):
            gains.append(gains[-1] + step)
        found.append(LateLesson(f"{number}", FIRST + draw(st.integers(0, 2)) * timedelta(days=1), tuple(gains)))
    return found


@given(late_lessons(), st.integers(0, 9))
def test_no_other_way_of_spending_the_days_is_better(lessons: list[LateLesson], budget: int) -> None:
    """All ways are tried: the most is saved, with the fewest days, and then on the lesson that is due earlier."""
    by_date = sorted(lessons, key=lambda one: (one.due, one.lesson))
    ways = [way for way in product(*(range(len(one.gains)) for one in by_date)) if sum(way) <= budget]
    saved = [sum(one.gains[days] for one, days in zip(by_date, way, strict=True)) for way in ways]
    _, _, right = max((gain, -sum(way), way) for gain, way in zip(saved, ways, strict=True))
    assert best(lessons, budget) == {one.lesson: days for one, days in zip(by_date, right, strict=True)}

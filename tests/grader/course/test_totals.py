"""The total of a course: weights, extra credit, and dropped lessons."""

from grader.course.course_file import parse
from grader.course.totals import CourseTotal, course_total

TENS = {"a": 10.0, "b": 10.0, "c": 20.0}
WEIGHTED = "lessons.a.weight = 30\nlessons.b.weight = 10\nlessons.c.weight = 60\nlessons.c.extra_credit = true"


def total(text: str, **grades: float | None) -> CourseTotal:
    return course_total(grades, TENS, parse(text, "course.toml"))


def test_the_total_follows_the_weights_and_its_arithmetic_says_how() -> None:
    for text, grades, earned, possible in (
        ("", {"a": 5, "b": 10, "c": 0}, 15, 40),
        (WEIGHTED, {"a": 5, "b": 10, "c": 1}, 28, 40),
        ("lessons.c.weight = 2", {"a": 5, "b": 10, "c": 10}, 2.5, 4),
        ("drop_lowest = 1", {"a": 5, "b": 2, "c": 3}, 7, 20),
        ("drop_lowest = 1", {"a": 1, "b": 9, "c": 2}, 10, 20),
        ("drop_lowest = 1\nlessons.c.weight = 2", {"a": 5, "b": 7, "c": 10}, 1.2, 2),
        ("drop_lowest = 5", {"a": 5, "b": 2, "c": 3}, 5, 10),
        ("drop_lowest = 1", {"a": 5, "b": 2}, 7, 20),
        (f"drop_lowest = 1\n{WEIGHTED}", {"a": 5, "b": 10, "c": 0}, 10, 10),
        ("lessons.a.weight = 0\ndrop_lowest = 1", {"a": 0, "b": 1, "c": 20}, 1, 1),
        ("lessons.a.weight = 0\nlessons.b.weight = 0\nlessons.c.weight = 0", {"a": 1}, 0, 0),
    ):
        found = total(text, **grades)
        assert (found.earned, found.possible, found.is_final) == (earned, possible, True), text
    assert not total("", a=None, b=10).is_final
    assert total("lessons.a.weight = 0\nlessons.b.extra_credit = true\nlessons.c.weight = 0", b=1).percent is None
    assert total(f"drop_lowest = 1\n{WEIGHTED}", a=5, b=10, c=1).arithmetic == (
        "a: 5 of 10, dropped as one of the lowest",
        "b: 10 of 10, × 10 = 10",
        "c: 1 of 20, extra credit, × 60 = 3",
        "Total: 10 + 3 = 13 of 10 (130 %)",
    )

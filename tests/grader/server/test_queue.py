"""The order in which hand-ins are graded, and the estimates of their waits."""

import io
from datetime import UTC, datetime, timedelta

from served_course import Served

from grader.server import intake, queue

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LESSONS = ("04_autorange", "05_compare")


def hand_in(served: Served, student: str, lesson: str, minute: int, text: str = "") -> None:
    with served.course.opened() as opened:
        file = io.BytesIO(f"x = 1  # {student} {lesson} {text}".encode())
        at = NOON + timedelta(minutes=minute)
        receipt = intake.store(served.course, opened, student, file, f"{lesson}.py", "", at)
    intake.read(served.course, receipt.number)


def order(served: Served) -> list[tuple[str, str]]:
    with served.course.opened() as opened:
        return [(one.hand_in.student, one.hand_in.lesson) for one in queue.waiting(opened)]


def test_nobody_waits_for_the_second_hand_in_of_another_student(served: Served) -> None:
    for minute, (student, lesson) in enumerate(
        [("Ren Ota", LESSONS[0]), ("Ren Ota", LESSONS[1]), ("José García", LESSONS[0])]
    ):
        hand_in(served, student, lesson, minute)
    assert order(served) == [("Ren Ota", LESSONS[0]), ("José García", LESSONS[0]), ("Ren Ota", LESSONS[1])]


def test_a_replaced_attempt_leaves_the_queue(served: Served) -> None:
    hand_in(served, "Ren Ota", LESSONS[0], 0, "first")
    hand_in(served, "José García", LESSONS[0], 1)
    hand_in(served, "Ren Ota", LESSONS[0], 2, "second")
    assert order(served) == [("José García", LESSONS[0]), ("Ren Ota", LESSONS[0])]


def test_each_lane_takes_the_next_hand_in(served: Served) -> None:
    for minute, student in enumerate(["Ren Ota", "José García", "Ada <b>L</b>"]):
        hand_in(served, student, LESSONS[0], minute)
    with served.course.opened() as opened:
        waiting = queue.waiting(opened)
        with opened.book.transaction() as db:
            db.execute("INSERT INTO in_lanes VALUES (?, ?, ?)", (*waiting[0].key, NOON.isoformat()))
        one = queue.estimates(opened, waiting, 1, NOON + timedelta(seconds=5))
        two = queue.estimates(opened, waiting, 2, NOON + timedelta(seconds=5))
    waits = [[places[each.key].wait.total_seconds() for each in waiting] for places in (one, two)]
    assert waits == [[15, 35, 55], [15, 20, 35]]
    assert [one[each.key].place for each in waiting] == [0, 1, 2]

"""What the server takes when the rules of the course allow no attempt at a lesson now."""

from http import HTTPStatus
from pathlib import Path

import pytest
import served_course
from served_course import Served, secret

LESSON, STUDENT = "04_autorange", "Ren Ota"
FIRST, SECOND = b"x = 1", b"x = 2"


@pytest.fixture
def quota(tmp_path: Path) -> Served:
    return served_course.serve(tmp_path, f"{served_course.COURSE}\n[quota]\nattempts = 1\n")


def hand_in(served: Served, data: bytes, name: str = f"{LESSON}.py") -> tuple[int, str]:
    browser = served.browser(STUDENT)
    form = {"secret": secret(browser), "lesson": LESSON}
    answer = browser.post("/hand-ins", data=form, files={"files": (name, data)})
    return answer.status_code, answer.text


def test_a_file_over_the_quota_is_refused_with_the_reason_and_leaves_nothing(quota: Served) -> None:
    assert hand_in(quota, FIRST)[0] == HTTPStatus.OK
    for name in (f"{LESSON}.py", "other.py", f"{LESSON}.ipynb"):
        status, text = hand_in(quota, SECOND, name)
        assert status == HTTPStatus.CONFLICT
        assert "The quota is 1 attempt." in text
    assert len([*quota.course.hand_ins.rglob("*.*")]) == 1
    assert hand_in(quota, FIRST)[0] == HTTPStatus.OK, "the same file takes no attempt"


def test_a_grading_that_the_machine_failed_gives_the_attempt_back(quota: Served) -> None:
    hand_in(quota, b"boom")
    assert hand_in(quota, SECOND)[0] == HTTPStatus.CONFLICT
    quota.grade()
    assert hand_in(quota, SECOND)[0] == HTTPStatus.OK


def test_a_lesson_that_is_not_open_yet_takes_nothing_and_a_closed_one_still_does(tmp_path: Path) -> None:
    text = served_course.COURSE.replace("due = 2126-12-20", "opens = 2126-01-01\ndue = 2126-12-20")
    later = served_course.serve(tmp_path, text)
    assert hand_in(later, FIRST)[0] == HTTPStatus.CONFLICT
    later.course.course_file.write_text(text.replace("opens = 2126-01-01\ndue = 2126-12-20", "closes = 2020-01-01"))
    with later.course.opened() as opened:
        later.course.refresh(opened)
    assert hand_in(later, FIRST)[0] == HTTPStatus.OK

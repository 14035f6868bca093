"""Staff change the dates, the roster and extensions in a browser, undo changes, and write them into the files."""

import html
import re

import pytest
from served_course import Served
from starlette.testclient import TestClient
from test_staff import GRACE, JOSE, TIM, send

DUE = "2126-12-20T23:59:59"
LESSON = "/course/lessons/04_autorange"


def seen(browser: TestClient, path: str = "/course") -> str:
    return str(re.findall(r'name="seen" value="(\d+)"', browser.get(path).text)[-1])


def test_dates_are_changed_undone_and_written_into_the_file(served: Served) -> None:
    grace, jose = served.browser(GRACE), served.browser("José García")
    form = {"due": "2126-12-22T12:00", "closes": "2126-12-23T12:00", "opens": "", "results": ""}
    assert send(grace, LESSON, seen=seen(grace), **form)[0] == 200
    assert "Sun 22 Dec 2126 12:00 CET" in jose.get("/").text
    assert "due = 2126-12-20\n" in served.course.course_file.read_text(encoding="utf-8")
    page = grace.get("/course").text
    assert "grace@uni.example: <code><bdi>lessons.04_autorange.closes = 2126-12-23T12:00:00" in page
    assert page.count('name="number"') == 2, "only what differs was changed"
    (number,) = re.findall(r'04_autorange.closes(?:(?!<li>).)*name="number" value="(\d+)"', page, re.DOTALL)
    assert "(undone)" in send(grace, "/course/undo", number=number)[1]
    assert "(written into the file)" in send(grace, "/course/write")[1]
    text = served.course.course_file.read_text(encoding="utf-8")
    assert "due = 2126-12-22T12:00:00" in text
    assert "closes" not in text


def test_a_wrong_change_is_explained_and_keeps_what_was_typed(served: Served) -> None:
    grace = served.browser(GRACE)
    for form, why in (
        ({"due": DUE, "closes": "2126-12-01T00:00"}, "write a date after the due date"),
        ({"due": "tomorrow"}, "is not a date with a time"),
        ({"due": DUE, "results": "secret"}, "results"),
    ):
        status, page = send(grace, LESSON, seen="0", **form)
        assert (status, why in page) == (422, True), page
        assert all(f'value="{text}"' in page for text in form.values() if text != "secret")
    for line in (
        "late.percent_per_day = 400",
        "nonsense",
        "staff = 7",
        "lessons.99_none.due = 2126-01-01",
        "[late]",
        "a." * 200,
    ):
        status, page = send(grace, "/course/lines", seen="0", line=line)
        assert (status, line in page) == (422, True), line
    assert 'name="number"' not in grace.get("/course").text


def test_any_setting_is_changed_by_a_line_as_in_the_file(served: Served) -> None:
    grace = served.browser(GRACE)
    lines = 'late.percent_per_day = 10\nlessons."05_compare".weight = 3'
    assert send(grace, "/course/lines", seen="0", line=lines)[0] == 200
    with served.course.opened() as opened:
        rules = opened.book.course()
    assert (rules.late.per_day, rules.weights) == (0.1, {"05_compare": 3})
    assert send(grace, "/course/lines", seen="2", line="late.percent_per_day", remove="true")[0] == 200
    with served.course.opened() as opened:
        assert opened.book.course().late.per_day == 0


def test_a_lesson_is_opened_closed_and_its_results_hidden_from_students_alone(served: Served) -> None:
    grace, ren = served.browser(GRACE), served.browser("Ren Ota")
    served.hand_in("Ren Ota", "right")
    served.grade()
    assert send(grace, LESSON, seen="0", due=DUE, results="hidden")[0] == 200
    report = "/students/Ren Ota/report"
    assert "10 of 10" not in html.unescape(grace.get(report).text)
    assert "10 of 10" in html.unescape(grace.get(f"{report}?hidden=true").text)
    assert send(grace, LESSON, seen=seen(grace), due="", results="shown", now="closes")[0] == 200
    with served.course.opened() as opened:
        assert opened.book.course().rule("Ren Ota", "04_autorange").is_closed(served.service.clock.now())
    assert "10 of 10" in html.unescape(grace.get(report).text)
    assert ren.get("/course").status_code == 403


def test_the_second_of_two_staff_does_not_overwrite_the_first(served: Served) -> None:
    grace, before = served.browser(GRACE), "0"
    assert send(grace, LESSON, seen=before, due="2126-12-24T00:00")[0] == 200
    status, page = send(grace, LESSON, seen=before, due="2126-12-26T00:00")
    assert (status, "2126-12-24T00:00:00" in page, 'value="2126-12-26T00:00"' in page) == (409, True, True)
    status, page = send(grace, "/roster", seen=before, name="Eve", email="eve@uni.example")
    assert (status, 'value="Eve"' in page) == (409, True)
    assert send(grace, LESSON, seen=seen(grace), due="2126-12-26T00:00")[0] == 200


@pytest.mark.parametrize(
    ("given", "wanted"), [("2 days", "2 days more"), ("2126-12-24T10:00", "Tue 24 Dec 2126 10:00")]
)
def test_an_extension_is_given_and_removed(served: Served, given: str, wanted: str) -> None:
    tim = served.browser(TIM)
    status, page = send(tim, f"{JOSE}/extension", lesson="04_autorange", to=given)
    assert (status, f"Autorange: {wanted}" in page) == (200, True)
    assert "tim@uni.example" in page
    status, page = send(tim, f"{JOSE}/extension", lesson="04_autorange", to="soon")
    assert (status, 'value="soon"' in page) == (422, True)
    assert send(tim, f"{JOSE}/extension", lesson="04_autorange", to="")[0] == 200
    with served.course.opened() as opened:
        assert not opened.book.course().extensions.get("José García")


def test_people_are_added_changed_and_removed(served: Served) -> None:
    grace = served.browser(GRACE)
    status, page = send(
        grace, "/roster", seen="0", name="Zoë <i>", id="700126", email="zoe@uni.example", sections="a; b"
    )
    assert (status, "Zoë <i>" in page, "a, b" in page) == (200, True, True)
    served.browser("Zoë <i>")
    status, page = send(grace, "/roster", seen=seen(grace), name="Zoe", email="zoe@uni.example")
    assert (status, "is on the roster already" in page) == (422, True)
    assert send(grace, "/roster", seen=seen(grace), student="Ren Ota", name="Ren Ōta", id="700123")[0] == 200
    assert send(grace, "/roster", seen=seen(grace), student="José García", remove="true")[0] == 200
    page = grace.get("/roster").text
    assert ("Ren Ōta" in page, "José García" in page) == (True, False)
    assert "José" in served.course.roster_file.read_text(encoding="utf-8")
    assert send(grace, "/course/write")[0] == 200
    text = served.course.roster_file.read_text(encoding="utf-8")
    assert ("Zoë <i>" in text, "José" in text) == (True, False)

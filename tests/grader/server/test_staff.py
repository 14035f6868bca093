"""Staff in a browser: the class, one student, points by hand, requests, and regrades that wait to be published."""

import html
import os
import re
from datetime import UTC, datetime

import pytest
import served_course
from served_course import Served
from starlette.testclient import TestClient

GRACE, TIM, ADA = "grace@uni.example", "tim@uni.example", "Ada <b>L</b>"
JOSE = "/students/José García"
TASK = "04_autorange.blocked_autorange"


def send(browser: TestClient, path: str, **form: str) -> tuple[int, str]:
    """Send a form from a page of this browser. Return the status and the text of the page that follows."""
    answer = browser.post(path, data={"secret": served_course.secret(browser), **form})
    return answer.status_code, html.unescape(answer.text)


def ask(served: Served, student: str, lesson: str, sentence: str) -> None:
    row = (student, lesson, sentence, datetime.now(UTC).isoformat())
    with served.course.opened() as opened, opened.book.transaction() as db:
        db.execute("INSERT INTO requests (student, lesson, sentence, at_utc) VALUES (?, ?, ?, ?)", row)


def numbers(page: str) -> dict[str, str]:
    return dict(re.findall(r"<div><dt>([^<]*)</dt><dd>([^<]*)</dd>", page))


def test_the_class_page_counts_attempts_and_shows_a_dead_grading_process(served: Served) -> None:
    grace = served.browser(GRACE)
    served.hand_in("Ren Ota", "right")
    served.hand_in(ADA, "boom")
    page = grace.get("/class").text
    assert numbers(page) | {"Waiting (equal files once)": "2", "Grading process": "does not run"} == numbers(page)
    assert 'role="alert">The grading process has not run for a minute' in page
    assert "Ada &lt;b&gt;L&lt;/b&gt;" in page
    assert "number 1 in the queue" in page.lower()
    served.grade()
    page = grace.get("/class").text
    wanted = {
        "Attempts handed in": "2",
        "Graded": "1",
        "Waiting (equal files once)": "0",
        "No grade, because the grader failed": "1",
    }
    assert numbers(page) | {**wanted, "Grading process": "runs"} == numbers(page)
    beat = served.course.heartbeat.stat().st_mtime - 61
    os.utime(served.course.heartbeat, (beat, beat))
    assert "does not run" in grace.get("/class").text


def test_staff_read_why_a_changed_course_file_does_not_hold(served: Served) -> None:
    served.service.problem = "The rules are those before: course.toml, line 3"
    assert "those before: course.toml, line 3" in served.browser(TIM).get("/course").text


def test_a_hand_in_that_the_grader_failed_on_can_be_graded_again(served: Served) -> None:
    served.hand_in(ADA, "boom")
    served.grade()
    assert send(served.browser(TIM), "/regrades", student=ADA, lesson="04_autorange")[0] == 200
    served.grade(boom=1.0)
    page = numbers(served.browser(TIM).get("/class").text)
    assert page | {"Graded": "1", "No grade, because the grader failed": "0", "Regrades to publish": "0"} == page


def test_the_report_on_the_class_follows_changes_and_leads_to_the_students(served: Served) -> None:
    grace = served.browser(GRACE)
    served.hand_in("Ren Ota", "wrong")
    served.grade()
    report = grace.get("/class/report").text
    assert "Sum, not mean." in report
    (link,) = set(re.findall(r'href="(ren-ota-[^"#]*)', report))
    assert "Fails 7 of 60 cases" in grace.get(f"/class/{link}").text
    grace.post(
        "/students/Ren Ota/marks",
        data={"secret": served_course.secret(grace), "seen": "0", "task": TASK, "points": "3"},
    )
    assert "3 of 10 points by hand" in grace.get("/class/report").text


def test_points_and_comments_by_hand_reach_the_student_and_can_be_taken_back(served: Served) -> None:
    tim, jose = served.browser(TIM), served.browser("José García")
    status, page = send(tim, f"{JOSE}/marks", seen="0", task=TASK, points="4,5", comment="Right <i>idea</i>")
    assert (status, "4.5 of 10 points by hand" in page) == (200, True)
    assert "Right &lt;i&gt;idea&lt;/i&gt;" in jose.get("/report").text
    for wrong in ("11", "nan", "many", "-1"):
        status, page = send(tim, f"{JOSE}/marks", seen="1", task=TASK, points=wrong, comment="keep this text")
        assert (status, wrong in page, "keep this text" in page) == (422, True, True)
    assert send(tim, f"{JOSE}/marks", seen="1", task=TASK, undo="points")[0] == 200
    assert "by hand" not in jose.get("/report").text
    assert "taken back. Given by tim@uni.example" in tim.get(JOSE).text
    status, page = send(tim, f"{JOSE}/marks", seen="2", task=TASK, undo="points")
    assert (status, "nothing to take back" in page) == (422, True)


def test_the_second_of_two_staff_sees_what_the_first_did(served: Served) -> None:
    grace, tim = served.browser(GRACE), served.browser(TIM)
    assert send(tim, f"{JOSE}/marks", seen="0", task=TASK, points="4")[0] == 200
    status, page = send(grace, f"{JOSE}/marks", seen="0", task=TASK, points="9", comment="Very good")
    assert status == 409
    assert "4 of 10 points by hand" in page
    assert all(f'value="{text}"' in page for text in ("9", "1")), "the form keeps its text, and has seen one entry"
    assert "9 of 10" not in page
    ask(served, "José García", "04_autorange", "Please look again")
    assert send(tim, "/requests/1", text="I did")[0] == 200
    status, page = send(grace, "/requests/1", text="No")
    assert (status, "I did" in page) == (409, True)


def test_the_original_bytes_are_sent_as_a_download(served: Served) -> None:
    served.hand_in("Ren Ota", "<script>right</script>", "04_autorange.py")
    answer = served.browser(TIM).get("/class/receipts/1/file")
    assert answer.content == b"<script>right</script>"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == (
        "application/octet-stream",
        "nosniff",
    )
    (stored,) = served.course.hand_ins.rglob("*.py")
    stored.unlink()
    assert served.browser(TIM).get("/class/receipts/1/file").status_code == 404


@pytest.mark.parametrize("wanted", ["1", "SHA", "sha"])
def test_a_receipt_is_found_by_its_number_or_digest(served: Served, wanted: str) -> None:
    served.hand_in("Ren Ota", "right")
    tim = served.browser(TIM)
    digest = re.findall("[0-9a-f]{64}", tim.get("/class/receipts?find=1").text)[0]
    text = {"SHA": digest[:10].upper(), "sha": digest}.get(wanted, wanted)
    assert digest in tim.get("/class/receipts", params={"find": text}).text
    assert "No receipt" in tim.get("/class/receipts", params={"find": "%"}).text


def test_a_new_link_replaces_the_old_one_and_is_shown_once(served: Served) -> None:
    grace, old = served.browser(GRACE), served.link("Ren Ota")
    _, page = send(grace, "/students/Ren Ota/link")
    (token,) = re.findall(r"/login#([\w-]+)", page)
    assert token not in grace.get("/students/Ren Ota").text
    assert "made a new personal link" in page
    logins = [served.browser().post("/login", data={"token": one}).status_code for one in (old, token)]
    assert logins == [401, 200]
    ren = served.browser("Ren Ota")
    assert send(grace, "/students/Ren Ota/revoke")[0] == 200
    assert ren.get("/report").status_code == 401


def test_a_regrade_is_confirmed_held_listed_and_then_published(served: Served) -> None:
    for name, text in (("Ren Ota", "half"), (ADA, "half"), ("José García", "half, too")):
        served.hand_in(name, text)
    served.grade()
    grace, tim = served.browser(GRACE), served.browser(TIM)
    assert "2 different hand-ins" in tim.get("/regrades/new?lesson=04_autorange").text
    assert send(tim, "/regrades", lesson="04_autorange")[0] == 200
    assert numbers(tim.get("/regrades").text)["Waiting"] == "2"
    served.grade(half=0.7)
    points = served.browser("Ren Ota").get("/report").text
    page = html.unescape(grace.get("/regrades").text)
    assert numbers(page) == {"Waiting": "0", "To publish": "2", "Results that would change": "3"}
    assert page.count("5, right → 7, right") == 3
    assert "5 → 7" in page
    assert served.browser("Ren Ota").get("/report").text == points
    (last,) = set(re.findall(r'name="last" value="(\d+)"', page))
    assert send(tim, "/regrades/publish", last=last)[0] == 403
    served.hand_in(ADA, "right", "05_compare.py")
    assert "published 2 regrades" in send(grace, "/regrades/publish", last=last)[1]
    assert "7 of 10" in html.unescape(served.browser("Ren Ota").get("/report").text)


def test_nobody_can_ask_to_regrade_what_the_course_does_not_have(served: Served) -> None:
    tim = served.browser(TIM)
    for form in ({"student": "Nobody"}, {"lesson": "99_none"}, {"student": ADA, "lesson": "99_none"}):
        assert send(tim, "/regrades", **form)[0] == 404
    assert tim.get("/students/Nobody").status_code == 404

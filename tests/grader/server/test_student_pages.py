"""What a student's pages say in each state of a hand-in, in the time zone of the reader, and after an error."""

import asyncio
import html
import io
import re
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import served_course
from classroom import ENVIRONMENT
from served_course import Served, secret
from starlette.testclient import TestClient

from grader.class_run.standing import Graded
from grader.records import Attempt, Report, Status, Verdict
from grader.server import events, intake, kept_edits, queue, staff_edits
from grader.server.course_folder import OpenCourse

LATE = """
title = "Measuring"
timezone = "Europe/Berlin"
attempts = "best"
[late]
percent_per_day = 10
[lessons.04_autorange]
due = 2026-01-10 18:00:00
[lessons.05_compare]
due = 2126-07-01 18:00:00
[lessons.07_fuzzing]
due = 2026-01-10 18:00:00
closes = 2026-01-12
"""
DUE = datetime(2026, 1, 10, 17, tzinfo=UTC)
REN, ADA = "Ren Ota", "Ada <b>L</b>"


@pytest.fixture
def late(tmp_path: Path) -> Any:
    """Return a served course with a lesson that is due, one that is not, and one that is closed."""
    with closing(served_course.serve(tmp_path, LATE)) as one:
        yield one


def hand_in(served: Served, student: str, lesson: str, at: datetime, text: str = "") -> int:
    """Hand in a file that differs from those of other students, and return the number of its receipt."""
    with served.course.opened() as opened:
        file = io.BytesIO(f"x = 1  # {student} {text}".encode())
        number = intake.store(served.course, opened, student, file, f"{lesson}.py", "", at).number
    intake.read(served.course, number)
    return number


def grade(served: Served, share: float) -> None:
    """Store a grade with this share of the points for each hand-in that waits."""
    attempt = Attempt(Status.PASSED, "Right on all cases.")
    with served.course.opened() as opened:
        for one in queue.waiting(opened):
            submission = intake.submission(served.course, opened, one.hand_in.student, *one.key)
            assert submission
            mine = [task for task in opened.book.tasks() if task.lesson == one.hand_in.lesson]
            verdicts = tuple(Verdict(task.task, share * task.points, task.points, None, attempt) for task in mine)
            report = Report(submission, verdicts, ENVIRONMENT, sandboxed=True, missing=(), duration_s=20.0)
            opened.book.add(Graded(report, datetime.now(UTC), datetime.now(UTC)))


def text(browser: TestClient, path: str, status: int = httpx2.codes.OK) -> str:
    """Return the visible text of a page, with single spaces."""
    answer = browser.get(path)
    assert answer.status_code == status, answer.text
    return plain(answer.text)


def plain(markup: str) -> str:
    main = re.sub(r"(?s)<(style|script|footer).*?</\1>", "", markup)
    return " ".join(html.unescape(re.sub(r"(?s)<[^>]*>", " ", main)).split())


def test_times_are_in_the_zone_of_the_browser_or_the_chosen_one_which_the_page_names(late: Served) -> None:
    browser = late.browser(REN)
    assert "Sat 10 Jan 2026 18:00 CET" in (page := text(browser, "/"))
    assert "time zone Europe/Berlin (the course's)" in page
    browser.cookies.set("zone", "America/New_York")
    assert "Sat 10 Jan 2026 12:00 EST" in (page := text(browser, "/"))
    assert "Mon 1 Jul 2126 12:00 EDT" in page
    assert "time zone America/New_York (your browser's)" in page
    browser.post("/zone", data={"zone": "Asia/Kathmandu", "secret": secret(browser)})
    assert "Sat 10 Jan 2026 22:45 UTC+0545" in (page := text(browser, "/"))
    assert "time zone Asia/Kathmandu (you chose it)" in page
    browser.post("/zone", data={"zone": "", "secret": secret(browser)})
    assert "America/New_York" in text(browser, "/")


def test_a_cookie_with_a_zone_that_does_not_exist_is_ignored(late: Served) -> None:
    browser = late.browser(REN)
    for value in ("Mars/Olympus", "../../etc/passwd", "<script>", "x" * 3000):
        browser.cookies.set("zone", value)
        assert "Europe/Berlin (the course's)" in text(browser, "/")


def test_the_list_of_lessons_says_what_waits_what_it_costs_and_what_counts(late: Served) -> None:
    browser = late.browser(REN)
    page = text(browser, "/")
    assert "100 % of the points are taken off" in page
    assert "The lesson closed Mon 12 Jan 2026 23:59:59 CET." in page
    hand_in(late, ADA, "04_autorange", DUE)
    hand_in(late, REN, "04_autorange", DUE + timedelta(hours=1))
    page = text(browser, "/")
    assert "Number 2 in the queue: less than a minute until its grade." in page
    grade(late, 0.8)
    page = text(browser, "/")
    assert "in the queue" not in page
    assert "Points so far 7.2 of 50" in page
    assert "7.2 of 10 Right." in page


def test_a_lesson_lists_all_attempts_and_says_which_counts_and_why(late: Served) -> None:
    hand_in(late, REN, "04_autorange", DUE - timedelta(hours=1), "first")
    grade(late, 0.8)
    hand_in(late, REN, "04_autorange", DUE + timedelta(hours=1), "second")
    browser = late.browser(REN)
    assert "2 Sat 10 Jan 2026 19:00 CET, 1 day late" in text(browser, "/lessons/04_autorange")
    grade(late, 1.0)
    page = text(browser, "/lessons/04_autorange")
    assert "2 counts Sat 10 Jan 2026 19:00 CET, 1 day late" in page
    assert "1 Sat 10 Jan 2026 17:00 CET, on time" in page
    assert "Attempt 2 of 2 counts: the best." in page
    assert "10 % are taken off, so 9 of the 10 earned points count." in page
    assert "You have not handed in an attempt" in text(browser, "/lessons/05_compare")
    assert "What you hand in now does not count, unless" in text(browser, "/lessons/07_fuzzing")
    text(browser, "/lessons/01_correct_first", httpx2.codes.NOT_FOUND)


def test_a_request_for_a_regrade_keeps_what_was_typed_until_it_is_right(late: Served) -> None:
    browser = late.browser(REN)
    path, form = "/lessons/04_autorange/requests", {"secret": secret(browser)}
    empty = browser.post(path, data={**form, "sentence": " "})
    assert empty.status_code == httpx2.codes.UNPROCESSABLE_CONTENT
    assert re.search(r'id="ask-problem" tabindex="-1" autofocus>Write one sentence', empty.text)
    long = browser.post(path, data={**form, "sentence": "</textarea>" + "x" * 600})
    assert "611 characters" in plain(long.text)
    assert "&lt;/textarea&gt;" + "x" * 600 in long.text
    asked = browser.post(path, data={**form, "sentence": "Case 3 is <b>right</b>."})
    assert "Case 3 is &lt;b&gt;right&lt;/b&gt;." in asked.text
    assert "Waits for an answer." in asked.text
    again = browser.post(path, data={**form, "sentence": "Again"})
    assert "already have an open request" in again.text
    with late.course.opened() as opened, opened.book.transaction() as db:
        answer = ["Graded again.", "grace", DUE.isoformat()]
        db.execute("UPDATE requests SET answer = ?, answered_by = ?, answered_utc = ?", answer)
    page = text(browser, "/lessons/04_autorange")
    assert "Answer of grace, Sat 10 Jan 2026 18:00 CET: Graded again." in page
    assert "Case 3" not in text(late.browser(ADA), "/lessons/04_autorange")


def test_a_form_without_a_file_comes_back_with_the_error_beside_it(late: Served) -> None:
    browser = late.browser(REN)
    for lesson, heading in (("", "Measuring"), ("04_autorange", "Autorange")):
        form = {"secret": (None, secret(browser)), "lesson": (None, lesson)}
        answer = browser.post("/hand-ins", files=form)
        assert answer.status_code == httpx2.codes.UNPROCESSABLE_CONTENT
        assert re.search(r'id="file-problem" tabindex="-1" autofocus>You did not choose a file', answer.text)
        assert heading in plain(answer.text)


def test_a_receipt_can_be_kept_as_text(late: Served) -> None:
    number = hand_in(late, ADA, "04_autorange", DUE)
    browser = late.browser(ADA)
    browser.cookies.set("zone", "America/New_York")
    answer = browser.get(f"/receipts/{number}.txt")
    assert answer.headers["content-disposition"] == f'attachment; filename="receipt-{number}.txt"'
    with late.course.opened() as opened:
        (receipt,) = intake.receipts(opened.db, ADA)
    for part in (ADA, "04_autorange.py", receipt.sha256, "Sat 10 Jan 2026 12:00 EST (2026-01-10T17:00:00+00:00)"):
        assert part in answer.text
    assert late.browser(REN).get(f"/receipts/{number}.txt").status_code == httpx2.codes.NOT_FOUND


def test_a_receipt_says_what_became_of_the_file(late: Served) -> None:
    number = hand_in(late, REN, "04_autorange", DUE)
    browser = late.browser(REN)
    assert "Number 1 in the queue" in text(browser, f"/receipts/{number}")
    grade(late, 1.0)
    assert "Graded, and it counts." in text(browser, f"/receipts/{number}")
    data, files = {"secret": secret(browser)}, {"files": ("shopping <i>list</i>.txt", b"milk")}
    answer = browser.post("/hand-ins", data=data, files=files)
    assert "<i>" not in answer.text.partition("<main")[2]
    assert "is not an exercise" in answer.text or "no exercise" in answer.text, plain(answer.text)


def test_all_of_two_hundred_receipts_are_listed(late: Served) -> None:
    row = (REN, "04_autorange", "04_autorange.py", "00ff", 5, DUE.isoformat())
    with late.course.opened() as opened, opened.book.transaction() as db:
        command = (
            "INSERT INTO receipts (student, lesson, name, sha256, size, at_utc, path) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        db.executemany(command, [(*row, f"{n}") for n in range(200)])
    browser = late.browser(REN)
    assert text(browser, "/receipts").count("Receipt ") == 201
    assert "All 200 receipts" in text(browser, "/")


async def heard(messages: AsyncIterator[str], change: Callable[[], object]) -> tuple[str, str]:
    """Return the first message, and the first one after a change that differs from it."""
    first = await anext(messages)
    change()
    second = await asyncio.wait_for(anext(messages), 30)
    return first, second


def test_each_browser_hears_of_its_own_hand_ins_and_nothing_else(late: Served) -> None:
    number = hand_in(late, REN, "04_autorange", DUE)
    hand_in(late, ADA, "05_compare", DUE + timedelta(minutes=1))
    live = late.app.state.live
    live.is_ending = lambda: False

    async def listen() -> tuple[str, str]:
        messages = live.messages(REN)
        try:
            return await heard(messages, lambda: grade(late, 1.0))
        finally:
            await messages.aclose()

    first, second = asyncio.run(listen())
    assert "04_autorange" in first
    assert "Number 1 in the queue" in first
    assert "05_compare" not in first
    assert second == "data: {}\n\n", number
    assert live.listeners == 0


def test_the_queue_is_computed_once_until_it_changes(late: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[OpenCourse] = []
    waiting = queue.waiting

    def counted(opened: OpenCourse) -> list[queue.Waiting]:
        computed.append(opened)
        return waiting(opened)

    monkeypatch.setattr(queue, "waiting", counted)
    hand_in(late, REN, "04_autorange", DUE)
    browsers = [late.browser(REN), late.browser(ADA)]
    for browser in browsers * 3:
        browser.get("/")
    assert len(computed) == 1
    hand_in(late, ADA, "04_autorange", DUE + timedelta(minutes=1))
    assert "Number 2" in text(browsers[1], "/")
    assert len(computed) == 2


def test_messages_need_the_login_of_a_student(late: Served) -> None:
    assert late.browser().get("/events").status_code == httpx2.codes.UNAUTHORIZED


def test_a_long_wait_is_given_in_hours() -> None:
    waits = [events.wait_text(queue.QueuePlace(3, timedelta(minutes=one))) for one in (0.5, 20, 89, 150)]
    assert [one.partition(": ")[2].partition(" until")[0] for one in waits] == [
        "less than a minute",
        "about 20 min",
        "about 89 min",
        "about 2 hours",
    ]


RULES = """
title = "Measuring"
timezone = "Europe/Berlin"
attempts = "chosen"
[late]
percent_per_day = 10
[slip_days]
budget = 3
per_lesson = 2
spend = "chosen"
[lessons.04_autorange]
due = 2026-01-10 18:00:00
[lessons.05_compare]
opens = 2126-06-01 18:00:00
due = 2126-07-01 18:00:00
[lessons.07_fuzzing]
results = "hidden"
quota = { attempts = 2, refill_hours = 4 }
"""


@pytest.fixture
def ruled(tmp_path: Path) -> Any:
    """Return a served course with chosen attempts, chosen slip days, a quota, and hidden results."""
    with closing(served_course.serve(tmp_path, RULES)) as one:
        yield one


def test_a_student_chooses_the_attempt_that_counts(ruled: Served) -> None:
    for minute, word in enumerate(("first", "second")):
        hand_in(ruled, REN, "04_autorange", DUE - timedelta(minutes=9 - minute), word)
        grade(ruled, 0.8)
    browser, path = ruled.browser(REN), "/lessons/04_autorange"
    assert "2 counts Sat" in text(browser, path)
    sha256 = re.findall(r'name="attempt" value="(\w+)"', browser.get(path).text)
    form = {"secret": secret(browser)}
    for attempt in (sha256[1], sha256[0], sha256[1]):
        browser.post(f"{path}/choice", data={**form, "attempt": attempt})
    page = text(browser, path)
    assert "1 counts Sat" in page
    assert "2 counts Sat" not in page
    assert "Choose one of your attempts." in plain(browser.post(f"{path}/choice", data=form).text)
    foreign = browser.post(f"{path}/choice", data={**form, "attempt": "0" * 64})
    assert foreign.status_code == httpx2.codes.UNPROCESSABLE_CONTENT
    with ruled.course.opened() as opened:
        states = [one.state for one in kept_edits.history(opened.db)]
        assert states == ["undone", "undone", "holds"]
        assert staff_edits.seen(opened.db) == 0


def test_a_student_spends_slip_days_and_sees_what_is_left(ruled: Served) -> None:
    hand_in(ruled, REN, "04_autorange", DUE + timedelta(hours=30))
    grade(ruled, 1.0)
    browser, path = ruled.browser(REN), "/lessons/04_autorange"
    assert "Slip days left 3 of 3" in text(browser, "/")
    assert "Points 8 of 10" in text(browser, path)
    form = {"secret": secret(browser)}
    for wrong in ("3", "-1", "two", "", "²"):
        answer = browser.post(f"{path}/slip-days", data={**form, "days": wrong})
        assert "Write a whole number from 0 to 2." in plain(answer.text)
        assert f'name="days" inputmode="numeric" autocomplete="off" value="{wrong}"' in answer.text
    browser.post(f"{path}/slip-days", data={**form, "days": "2"})
    page = text(browser, path)
    assert "1 of 3 left, 2 spent on this lesson" in page
    assert "Points 10 of 10" in page
    assert "Slip days pay for 2 of 2 days" in page


def test_hidden_results_are_on_no_page_of_a_student(ruled: Served) -> None:
    number = hand_in(ruled, REN, "07_fuzzing", DUE)
    grade(ruled, 0.35)
    browser = ruled.browser(REN)
    pages = [browser.get(path).text for path in ("/", "/lessons/07_fuzzing", f"/receipts/{number}", "/report")]
    for page in pages:
        assert "7 of 20" not in plain(page)
        assert "7 points" not in plain(page)
        assert "Right on all cases." not in page
    assert all("Your teacher has not released the results yet." in page for page in pages[:3])


def test_a_quota_says_how_many_attempts_are_left_and_when_the_next_comes(ruled: Served) -> None:
    browser, path = ruled.browser(REN), "/lessons/07_fuzzing"
    assert "2 attempts left." in text(browser, path)
    now = ruled.service.clock.now()
    for n in range(3):
        hand_in(ruled, REN, "07_fuzzing", now + timedelta(seconds=n), str(n))
    page = text(browser, path)
    assert "No attempt is left now. Wait" in page
    assert "Does not count. The quota is 2 attempts, and one more every 4 hours." in page
    assert "The lesson opens Sat 1 Jun 2126 18:00 CEST." in text(browser, "/")


def test_a_team_mates_attempt_is_shown_with_its_sender(tmp_path: Path) -> None:
    served = served_course.serve(tmp_path, f'{LATE}\n[teams.red]\nstudents = ["{REN}", "{ADA}"]\n')
    hand_in(served, REN, "05_compare", DUE)
    browser = served.browser(ADA)
    assert "on time, by Ren Ota" in text(browser, "/lessons/05_compare")
    assert "Number 1 in the queue" in text(browser, "/")
    browser.close()


def test_the_results_lead_back_to_the_lessons(late: Served) -> None:
    assert '<a href="/">Back to the lessons</a>' in late.browser(REN).get("/report").text

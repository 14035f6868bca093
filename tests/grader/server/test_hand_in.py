"""A student hands in over the network: receipts, what counts as an attempt, and where the files are."""

import hashlib
import io
from datetime import timedelta
from pathlib import Path

import pytest
from classroom import notebook, zipped
from served_course import Served, secret

from grader import paths
from grader.hand_ins.collect import collect
from grader.server import intake
from grader.server.intake import Receipt

LESSON, OTHER = "04_autorange", "05_compare"
SOLUTION, STUB = paths.solution(LESSON).read_bytes(), paths.stub(LESSON).read_bytes()


def hand_in(served: Served, student: str, name: str, data: bytes, lesson: str = "") -> Receipt:
    """Hand in a file, and return its receipt after the file was read."""
    browser = served.browser(student)
    form = {"secret": secret(browser), "lesson": lesson}
    answer = browser.post("/hand-ins", data=form, files={"files": (name, data)})
    assert answer.status_code == 200, answer.text
    with served.course.opened() as opened:
        return intake.receipts(opened.db, student)[0]


def lessons(receipt: Receipt) -> list[str]:
    """Return the lessons of the attempts in a file."""
    return [lesson for lesson, content, _ in receipt.found or () if content]


def notes(receipt: Receipt) -> str:
    return " ".join(note for *_, note in receipt.found or ())


def test_the_receipt_has_the_digest_of_the_bytes_that_are_on_the_disk(served: Served) -> None:
    receipt = hand_in(served, "José García", f"{LESSON}.py", SOLUTION)
    assert receipt.sha256 == hashlib.sha256(SOLUTION).hexdigest()
    (stored,) = served.course.hand_ins.rglob("*.py")
    assert stored.read_bytes() == SOLUTION
    assert stored.relative_to(served.course.hand_ins).parts[0] == "700124"


@pytest.mark.parametrize("name", ["hw4.py", "04_autorange (1).py", "Lösung.PY", "../../../x.py", "a\\b.py", ".py"])
def test_a_file_handed_in_for_a_lesson_needs_no_name(served: Served, name: str) -> None:
    assert lessons(hand_in(served, "Ren Ota", name, SOLUTION, LESSON)) == [LESSON]


def test_a_name_counts_before_the_page_on_which_the_file_was_chosen(served: Served) -> None:
    assert lessons(hand_in(served, "Ren Ota", f"{LESSON}.py", SOLUTION, OTHER)) == [LESSON]


def test_a_zip_has_an_attempt_for_each_exercise_and_a_reason_for_the_rest(served: Served) -> None:
    other = paths.solution(OTHER).read_bytes()
    files = [(f"{LESSON}.py", SOLUTION), (f"w2/{OTHER}.py", other), ("notes.txt", b"x"), ("hw9.py", b"def f(): 1")]
    receipt = hand_in(served, "Ren Ota", "submission.zip", zipped(files))
    assert sorted(lessons(receipt)) == [LESSON, OTHER]
    assert "hw9.py" in notes(receipt)


def test_a_notebook_is_an_attempt(served: Served) -> None:
    assert lessons(hand_in(served, "Ren Ota", f"{LESSON}.ipynb", notebook("x = 1"))) == [LESSON]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        (f"{LESSON}.py", STUB, "no code was written"),
        ("report.pdf", b"%PDF-1.7 x", "PDF"),
        ("broken.zip", b"PK\x03\x04 no", "zip"),
        ("empty.zip", zipped([]), "no exercise"),
    ],
)
def test_a_file_without_an_attempt_gets_a_receipt_and_the_reason(
    served: Served, name: str, data: bytes, why: str
) -> None:
    receipt = hand_in(served, "Ren Ota", name, data)
    assert why in notes(receipt), receipt
    with served.course.opened() as opened:
        assert not any(one.content for one in opened.book.roll().waiting if one.path.endswith(".pdf"))


def test_the_same_file_again_is_no_new_attempt(served: Served) -> None:
    first = hand_in(served, "Ren Ota", f"{LESSON}.py", SOLUTION)
    again = hand_in(served, "Ren Ota", f"{LESSON}.py", SOLUTION)
    assert again.number > first.number
    with served.course.opened() as opened:
        (one,) = opened.book.student_lessons("Ren Ota")
    assert [row.at for row in one.may_count] == [first.at]


def test_a_run_finds_the_same_hand_ins_in_the_folder_of_the_server(served: Served) -> None:
    """A course can leave the server at any time, and grade the folder with `run`."""
    receipts = [hand_in(served, who, f"{LESSON}.py", SOLUTION + who.encode()) for who in ("Ren Ota", "Ada <b>L</b>")]
    receipts.append(hand_in(served, "Ren Ota", f"{LESSON}.py", b"x = 1"))
    with served.course.opened() as opened:
        roster = opened.book.roster()
    found = collect(served.course.hand_ins, [LESSON], kit="", student_of=roster.student_of).submissions
    assert {(one.student, one.sha256) for one in found} == {(one.student, one.sha256) for one in receipts}
    times = {one.sha256: one.handed_in for one in found}
    for one in receipts:
        at = times[one.sha256]
        assert at
        assert timedelta(0) <= abs(at - one.at) < timedelta(seconds=4)


def test_hand_ins_of_one_second_have_folders_of_their_own(served: Served) -> None:
    with served.course.opened() as opened:
        at = served.service.clock.now()
        made = [
            intake.store(served.course, opened, "Ren Ota", io.BytesIO(text), f"{LESSON}.py", "", at)
            for text in (b"x = 1", b"x = 2", b"x = 3")
        ]
    assert len({Path(one.path).parent for one in made}) == 3
    assert {one.at for one in made} == {at}

"""Hostile uploads: file names, sizes, forms and archives, and a disk or a database that fails meanwhile."""

import io
import re
import sqlite3
import zipfile
from contextlib import closing
from datetime import datetime

import pytest
from attacking import JOSE, MARKUP, REN, SOLUTION, hand_in, secret_of, unchanged
from served_course import Served

from grader.server import intake
from grader.server.limits import MAX_BYTES, MOST_FILES, UPLOADS

NAMES = [
    "../../../etc/passwd", "..", ".", "/", "C:\\x\\04_autorange.py", "a\0b.py", "a\r\nSet-Cookie: x=1.py", MARKUP,
    "文" * 300 + ".py", "x" * 3000, "é" * 101 + "." + "é" * 101, "\N{RIGHT-TO-LEFT OVERRIDE}yp.exe", "-rf", "=cmd()",
    "CON.py", ".bashrc", "submission_metadata.yml", "students.csv",
    "04_autorange.py\u200b", "A\u030a.py", " ", "\udcff.py",
]  # fmt: skip


def test_a_hostile_file_name_stays_in_the_folder_of_its_student(served: Served) -> None:
    browser = served.browser(REN)
    for number, name in enumerate(NAMES, 1):
        answer = hand_in(browser, name.encode(errors="replace").decode(), b"# %d" % number)
        assert answer.status_code == 303, (name, answer.text)
    files = [one for one in served.course.path.rglob("*") if one.is_file() and b"# " in one.read_bytes()[:2]]
    assert {one.relative_to(served.course.hand_ins).parts[0] for one in files} == {"700123"}
    assert len(files) == len(NAMES)
    for one in files:
        assert not re.search(r"[\x00-\x1f<>\"'\u202e\u200b]|^[.=-]", one.name), one.name


def test_a_file_of_gradescope_does_not_hand_in_for_another_student(served: Served) -> None:
    forged = b":users:\n  submission_1:\n    :submitters:\n    - :name: Jose\n      :sid: '700124'\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("submission_metadata.yml", forged)
        archive.writestr("submission_1/04_autorange.py", SOLUTION)
    hand_in(served.browser(REN), "700124.zip", buffer.getvalue())
    with served.course.opened() as opened:
        assert {row[0] for row in opened.db.execute("SELECT student FROM hand_ins")} <= {REN}


def test_the_same_file_again_is_a_receipt_and_no_attempt(served: Served) -> None:
    browser = served.browser(REN)
    for _ in range(5):
        assert hand_in(browser).status_code == 303
    with served.course.opened() as opened:
        (attempts,) = opened.db.execute("SELECT count(*) FROM hand_ins").fetchone()
        first, *_ = (one.at for one in reversed(intake.receipts(opened.db, REN)))
        (at,) = opened.db.execute("SELECT handed_in_utc FROM hand_ins").fetchone()
    assert attempts == 1
    assert datetime.fromisoformat(at) == first


@pytest.mark.parametrize("body", [
    b"a=1&" * 20_000, b"token=" + b"x" * 90_000, b"&" * 99_000, b"%" * 9_000, b"token=%ff%fe%00", b"\xff" * 9_000,
])  # fmt: skip
def test_an_odd_form_is_refused_with_a_sentence(served: Served, body: bytes) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert served.browser().post("/login", content=body, headers=kind).status_code in {400, 401, 422}


@pytest.mark.parametrize(
    "body", [b"[" * 90_000, b'{"token": "\\ud800"}', b'{"token": 1e999}', b"\xff", b"null", b'"x"']
)
def test_odd_json_is_refused_with_a_sentence(served: Served, body: bytes) -> None:
    kind = {"content-type": "application/json"}
    assert served.browser().post("/api/login", content=body, headers=kind).status_code in {400, 401, 422}


def test_too_many_files_in_a_form_are_refused_and_none_is_stored(served: Served) -> None:
    browser = served.browser(REN)
    form = {"secret": secret_of(browser)}
    files = [("files", (f"{n}.py", b"x")) for n in range(MOST_FILES + 1)]
    with unchanged(served):
        assert browser.post("/hand-ins", data=form, files=files).status_code == 400


@pytest.mark.long
def test_a_student_whose_files_wait_to_be_read_must_wait_before_the_next(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.service.readers, "notice", lambda: None)
    browser, other = served.browser(REN), served.browser(JOSE)
    for number in range(MOST_FILES):
        assert hand_in(browser, data=b"# %d" % number).status_code == 303
    with unchanged(served):
        answer = hand_in(browser, data=b"# more")
    assert answer.status_code == 429
    assert "wait to be read" in answer.text
    assert hand_in(other).status_code == 303


def test_a_file_over_the_limit_is_refused_and_leaves_nothing(served: Served) -> None:
    browser = served.browser(REN)
    with unchanged(served):
        answer = hand_in(browser, data=b"#" * (MAX_BYTES + 1))
    assert answer.status_code == 413
    assert "larger than 64 MB" in answer.text


def test_a_large_file_after_the_login_has_ended_is_refused_by_its_reason(served: Served) -> None:
    for path in UPLOADS:
        answer = served.browser().post(path, files={"file": ("04_autorange.py", b"#" * 1_000_000)})
        assert answer.status_code == 401
        assert "log" in answer.text


def test_a_database_that_another_program_locks_is_busy_and_then_works_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = served.browser(REN)
    monkeypatch.setattr("grader.class_run.database._TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(served.course.grades / "grades.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = hand_in(browser)
        other.execute("ROLLBACK")
    assert answer.status_code == 503
    assert "busy" in answer.text
    assert [one for one in served.course.hand_ins.rglob("*") if one.is_file()] == []
    assert hand_in(browser).status_code == 303


def test_a_course_folder_that_is_gone_is_a_fault_without_paths_and_works_when_it_is_back(served: Served) -> None:
    browser, away = served.browser(REN), served.course.path.with_name("away")
    secret = secret_of(browser)
    served.course.path.rename(away)
    for answer in (browser.get("/"), browser.post("/hand-ins", data={"secret": secret}, files={"files": ("a", b"b")})):
        assert answer.status_code == 503
        assert str(served.course.path) not in answer.text
    away.rename(served.course.path)
    assert hand_in(browser).status_code == 303

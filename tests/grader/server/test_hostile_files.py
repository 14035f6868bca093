"""Hostile files through the real reading processes, and a disk that is full: other students lose nothing."""

import io
import json
import os
import stat
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
import served_course
from attacking import ADA, JOSE, REN, SOLUTION, hand_in, secret_of
from served_course import Served

from grader.server import intake, readers
from grader.server.course_folder import CourseFolder
from grader.server.intake import Receipt
from grader.server.readers import Readers

pytestmark = pytest.mark.long
SIGN = "a sign"
READ = readers._read


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    """Return a compressed zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


def link(name: str, to: bytes) -> bytes:
    """Return a zip with a symbolic link."""
    about = zipfile.ZipInfo(name)
    about.create_system, about.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return zipped((about, to))


def in_zips(depth: int) -> bytes:
    """Return a zip in a zip, and so on."""
    data, name = SOLUTION, "04_autorange.py"
    for _ in range(depth):
        data, name = zipped((name, data)), "inner.zip"
    return data


HOSTILE: dict[str, Callable[[], bytes]] = {
    "bomb.zip": lambda: zipped(("04_autorange.py", bytes(200_000_000))),
    "nested.zip": lambda: in_zips(100),
    "link.zip": lambda: link("04_autorange.py", b"/etc/passwd"),
    "slip.zip": lambda: zipped(("../../700124/x/04_autorange.py", SOLUTION), ("/tmp/04_autorange.py", SOLUTION)),  # noqa: S108
    "no.zip": lambda: b"PK\5\6" + bytes(18),
    "parentheses.py": lambda: b"x = " + b"(" * 100_000,
    "minus.py": lambda: b"x = " + b"-" * 500_000 + b"1",
    "nested.ipynb": lambda: b'{"cells": ' + b"[" * 500_000,
    "empty_cells.ipynb": lambda: json.dumps({"nbformat": 4, "cells": [{}] * 200_000}).encode(),
    "zeros.py": lambda: bytes(1_000_000),
}


@pytest.fixture
def reading(served: Served) -> Iterator[Served]:
    """Return a served course whose files are read by other processes, as on a real server."""
    readers = Readers(served.course)
    served.service.readers = readers
    readers.start()
    yield served
    readers.close()


def read_receipts(served: Served, student: str, number: int) -> list[Receipt]:
    """Wait until all files of a student were read. Return their receipts."""
    while True:
        with served.course.opened() as opened:
            found = intake.receipts(opened.db, student)
        if len(found) == number and all(one.found is not None for one in found):
            return found
        time.sleep(0.1)


def _read_ren_last(course: CourseFolder, number: int) -> None:
    """Read a file with the real limits, but wait with the files of Ren for a sign, as if they took long."""
    with course.opened() as opened:
        is_ren = (number, REN) in intake.unread(opened.db)
    while is_ren and not (course.path / SIGN).exists():
        time.sleep(0.05)
    READ(course, number)


def test_hostile_files_are_refused_with_a_sentence_and_others_are_read_meanwhile(
    reading: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.server.readers._read", _read_ren_last)
    mallory, honest = reading.browser(REN), reading.browser(JOSE)
    for name, made in HOSTILE.items():
        answer = hand_in(mallory, name, made())
        assert answer.status_code == 303, name
    assert hand_in(honest).status_code == 303
    (receipt,) = read_receipts(reading, JOSE, 1)
    assert receipt.found
    with reading.course.opened() as opened:
        assert [student for _, student in intake.unread(opened.db)] == [REN] * len(HOSTILE)
    (reading.course.path / SIGN).touch()
    for one in read_receipts(reading, REN, len(HOSTILE)):
        assert one.found
        assert all(note for _, content, note in one.found if not content), one.name
        assert "root:" not in json.dumps(one.found)
    assert mallory.get("/").status_code == honest.get("/").status_code == 200
    with reading.course.opened() as opened:
        students = {row[0] for row in opened.db.execute("SELECT DISTINCT student FROM hand_ins")}
    assert students <= {REN, JOSE}


def _end(course: CourseFolder, number: int) -> None:
    """Do what a file does that makes its reading process crash."""
    with course.opened() as opened:
        (name,) = opened.db.execute("SELECT name FROM receipts WHERE id = ?", [number]).fetchone()
    if name == "killer.py":
        os.kill(os.getpid(), 9)
    intake.read(course, number)


def test_only_the_file_that_ends_its_reading_process_is_given_up(
    reading: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.server.readers._read", _end)
    hand_in(reading.browser(REN), "killer.py", b"x = 1")
    hand_in(reading.browser(JOSE))
    hand_in(reading.browser(ADA), "04_autorange.py", SOLUTION + b"\n# mine")
    (killer,) = read_receipts(reading, REN, 1)
    assert killer.found
    assert "could not read this file" in killer.found[0][2]
    for name in (JOSE, ADA):
        (honest,) = read_receipts(reading, name, 1)
        assert honest.found
        assert honest.found[0][1]


@pytest.mark.parametrize("free", [0, 4_096, 65_536, 300_000])
def test_a_full_disk_stores_nothing_and_then_everything(
    small_disk: Path, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = served_course.serve(small_disk)
    browser = served.browser(REN)
    secret = secret_of(browser)
    monkeypatch.setattr(served.service.readers, "notice", lambda: None)
    filler = small_disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    os.truncate(filler, filler.stat().st_size - free)
    upload = {"files": ("04_autorange.py", SOLUTION + b"#" * 500_000)}
    answer = browser.post("/hand-ins", data={"secret": secret}, files=upload)
    assert answer.status_code == 507
    assert "disk is full" in answer.text
    assert [one for one in served.course.hand_ins.rglob("*") if one.is_file()] == []
    filler.unlink()
    assert hand_in(browser).status_code == 303
    with closing(browser), served.course.opened() as opened:
        (receipt,) = intake.receipts(opened.db, REN)
    assert (served.course.hand_ins / receipt.path).read_bytes() == SOLUTION
    assert receipt.at <= datetime.now(UTC)

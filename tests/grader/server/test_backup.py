"""A backup is whole, also while students hand in, and a restored course goes on where the backup was made."""

import sqlite3
import threading
import zipfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
import real_server
import served_course
from served_course import Served

from grader import paths
from grader.errors import UsageError
from grader.server.backup import back_up, restore
from grader.server.course_folder import CourseFolder

SOURCE = paths.solution("04_autorange").read_bytes()
COURSE = 'title = "Moved"\ntimezone = "UTC"\nattempts = "best"\n[lessons.04_autorange]\ndue = 2126-01-01\n'


def test_each_receipt_in_a_backup_has_its_file_while_students_hand_in(served: Served, tmp_path: Path) -> None:
    browser, file, restored = served.browser("José García"), tmp_path / "backup.zip", tmp_path / "elsewhere" / "course"
    secret = browser.get("/").text.partition('name="secret" value="')[2].partition('"')[0]
    began, ended = threading.Event(), threading.Event()

    def hand_in() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            files = {"files": ("04_autorange.py", SOURCE + b"# %d\n" % number)}
            browser.post("/hand-ins", data={"secret": secret, "lesson": ""}, files=files)
            began.set()

    thread = threading.Thread(target=hand_in)
    thread.start()
    try:
        began.wait()
        for again in range(5):
            back_up(served.course.path, file, force=again > 0)
    finally:
        ended.set()
        thread.join()
    assert file.stat().st_mode & 0o777 == 0o600
    restore(file, restored)
    course = CourseFolder(restored)
    course.prepare()
    with course.opened() as opened:
        receipts = opened.db.execute("SELECT path, sha256 FROM receipts").fetchall()
        assert receipts
        assert opened.book.folder == str(course.hand_ins)
        read = opened.db.execute("SELECT DISTINCT folder FROM hand_ins").fetchall()  # perhaps none was read yet
        assert {folder for (folder,) in read} <= {str(course.hand_ins)}
    for path, digest in receipts:
        assert sha256((course.hand_ins / path).read_bytes()).hexdigest() == digest


@pytest.mark.long
@pytest.mark.sandbox
def test_a_course_that_moved_is_graded_on_and_nothing_twice(tmp_path: Path) -> None:
    file, moved = tmp_path / "backup.zip", tmp_path / "moved"
    with real_server.served(tmp_path / "course", COURSE, ["Ada", "王伟"]) as server:
        ada = server.program("Ada")
        assert ada.hand_in("04_autorange.py", SOURCE)[0] == 201
        graded(server.folder, 1)
        server.stop()
        server.start("--jobs", "1")
        for number in range(3):
            assert ada.hand_in("04_autorange.py", SOURCE + b"# %d\n" % number)[0] == 201
        real_server.fairclock("serve", "backup", str(server.folder), str(file))
    real_server.fairclock("serve", "restore", str(file), str(moved))
    there = real_server.RealServer(moved, real_server.free_port(), server.links)
    there.start()
    try:
        assert there.program("王伟").hand_in("04_autorange.py", SOURCE)[0] == 201, "the same links hold"
        graded(moved, 4)
        with closing(sqlite3.connect(moved / "grades" / "grades.sqlite")) as db:
            counts = db.execute("SELECT count(*) FROM gradings GROUP BY content").fetchall()
        assert counts == [(1,)] * 4
    finally:
        there.stop()


def graded(folder: Path, number: int) -> None:
    """Wait until as many hand-ins of a served course have a grade."""
    wait = threading.Event()
    while True:
        with closing(sqlite3.connect(folder / "grades" / "grades.sqlite")) as db:
            if db.execute("SELECT count(*) FROM gradings").fetchone()[0] >= number:
                return
        wait.wait(0.3)


@pytest.mark.parametrize(
    "name", ["../evil", "hand-ins/../../evil", "/evil", "grades/evil", "hand-ins", "missing", "damaged"]
)
def test_a_zip_that_is_no_backup_makes_no_folder(tmp_path: Path, name: str) -> None:
    course = served_course.serve(tmp_path).course
    file, to = tmp_path / "backup.zip", tmp_path / "restored"
    back_up(course.path, file, force=False)
    if name == "missing":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("course.toml", "")
    elif name == "damaged":
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0xFF
        file.write_bytes(data)
    else:
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr(name, "evil")
    with pytest.raises(UsageError, match="is damaged" if name == "damaged" else "is no backup of a course"):
        restore(file, to)
    assert not to.exists()
    assert not list(tmp_path.rglob("evil"))


def test_a_folder_with_files_is_never_replaced(served: Served, tmp_path: Path) -> None:
    file, full = tmp_path / "backup.zip", tmp_path / "full"
    back_up(served.course.path, file, force=False)
    full.mkdir()
    (full / "work.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists and is not empty"):
        restore(file, full)
    file.write_text("my own file")
    with pytest.raises(UsageError, match="may hold your work"):
        back_up(served.course.path, file, force=False)

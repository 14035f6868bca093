"""The server and its grading process are killed at random moments, also with a full disk: nothing is lost."""

import hashlib
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from real_server import RealServer, served

pytestmark = [pytest.mark.long, pytest.mark.sandbox]

COURSE = 'title = "Killed"\ntimezone = "UTC"\nattempts = "best"\n[lessons.04_autorange]\ndue = 2126-01-01\n'
STUDENTS = tuple(f"Student {n}" for n in range(10))
SOURCE = "def blocked_autorange(run):\n    return None\n"
"""An answer that is graded fast, because it is wrong in the first test case."""
KILLS = 50


def test_no_hand_in_with_a_receipt_is_lost_or_graded_twice(small_disk: Path) -> None:
    rng, given, filler = random.Random(7), dict[int, str](), small_disk / "filler"
    with served(small_disk / "course", COURSE, STUDENTS) as server:
        for _ in range(KILLS):
            ends_s = time.monotonic() + rng.uniform(0.05, 2.0)
            if rng.random() < 0.3:
                fill(filler)
            while time.monotonic() < ends_s:
                with suppress(OSError, AssertionError):
                    hand_in(server, rng, given)
                time.sleep(0.3)
            victim(server, rng).kill()
            filler.unlink(missing_ok=True)
            if (server.process and server.process.poll() is not None) or rng.random() < 0.5:
                server.kill()
                server.start()
        wait_until_graded(server, len(given))
    database = small_disk / "course" / "grades" / "grades.sqlite"
    with closing(sqlite3.connect(database)) as db:
        stored = {
            number: (path, sha256) for number, path, sha256 in db.execute("SELECT id, path, sha256 FROM receipts")
        }
        graded = Counter(row[0] for row in db.execute("SELECT sha256 FROM gradings WHERE NOT faulted"))
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(given) > KILLS
    assert {number for number, sha256 in given.items() if stored.get(number, ("", ""))[1] != sha256} == set()
    for path, sha256 in stored.values():
        data = (small_disk / "course" / "hand-ins" / path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256
    assert {sha256: graded[sha256] for sha256 in given.values() if graded[sha256] != 1} == {}, about(database)


def hand_in(server: RealServer, rng: random.Random, given: dict[int, str]) -> None:
    """Hand in one file, and remember the number and the digest of its receipt."""
    data = f"{SOURCE}\n# {rng.getrandbits(64)}\n".encode()
    status, receipt = server.program(rng.choice(STUDENTS)).hand_in("04_autorange.py", data)
    if status == 201:
        given[receipt["number"]] = hashlib.sha256(data).hexdigest()


def fill(filler: Path) -> None:
    """Write a file until the disk is full."""
    with suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(bytes(1 << 16))


def victim(server: RealServer, rng: random.Random) -> psutil.Process:
    """Return the server or one of its processes."""
    assert server.process
    process = psutil.Process(server.process.pid)
    return rng.choice([process, process, *process.children()])


def wait_until_graded(server: RealServer, number: int) -> None:
    """Wait until as many hand-ins have a grade, or nothing was graded for a minute."""
    before, since_s = -1, time.monotonic()
    while time.monotonic() - since_s < 60:
        with closing(sqlite3.connect(server.folder / "grades" / "grades.sqlite")) as db:
            (graded,) = db.execute("SELECT count(*) FROM gradings WHERE NOT faulted").fetchone()
        if graded >= number:
            return
        if graded != before:
            before, since_s = graded, time.monotonic()
        time.sleep(0.5)


def about(database: Path) -> str:
    """Return what the database says of the hand-ins without a grade."""
    with closing(sqlite3.connect(database)) as db:
        query = "SELECT id, student, is_read, found FROM receipts WHERE sha256 NOT IN (SELECT sha256 FROM gradings)"
        faults = "SELECT sha256, rationale FROM gradings JOIN verdicts ON id = grading WHERE faulted"
        return f"{db.execute(query).fetchall()} {db.execute(faults).fetchall()}"

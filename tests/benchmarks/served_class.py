"""Let a class hand in over the network while the server grades, and measure receipts, pages, and the rate of grading.

    python tests/benchmarks/served_class.py --students 300 --minutes 10

Each student hands in three files at random times, and then loads three pages. The first 100 students hand in the same
solution of lesson 01, each with a comment of their own. Afterwards, `run` grades a part of the same hand-ins, for the
ratio of both rates. The clients run on the same machine as the server.
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from grader import paths
from harness.rendering.units import number, percent, seconds

sys.path.insert(0, str(Path(__file__).parents[1] / "grader"))
from real_server import Client, RealServer, served

TIMED, FAST, OTHER = "01_correct_first", "04_autorange", ("15_instruction_suite", "19_compile")
SAME = 100
COURSE = 'title = "Load"\ntimezone = "UTC"\n' + "".join(f"[lessons.{one}]\n" for one in (TIMED, FAST, *OTHER))


@dataclass(slots=True)
class Seen:
    """What the clients measured, in seconds, and the answers that were no receipt or page."""

    receipts_s: list[float] = field(default_factory=list)
    pages_s: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, times: list[float], began_s: float, status: int, expected: int) -> None:
        """Add the time since `began_s` to one of the lists, and count an unexpected status."""
        with self.lock:
            times.append(time.perf_counter() - began_s)
            if status != expected:
                self.failures[f"status {status}"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description="A class that hands in over the network.")
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--sample", type=int, default=30, help="students whose hand-ins `run` grades, too")
    options = parser.parse_args()
    students, rng, seen = [f"Student {n}" for n in range(options.students)], random.Random(3), Seen()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "course")
        with served(folder, COURSE, students) as server, ThreadPoolExecutor(48) as clients:
            programs, browsers = logged_in(server, students)
            events = sorted(
                (rng.uniform(0, 60 * options.minutes), n, file) for n in range(len(students)) for file in range(3)
            )
            began_s = time.perf_counter()
            for at_s, n, file in events:
                time.sleep(max(0.0, began_s + at_s - time.perf_counter()))
                clients.submit(hand_in, programs[n], browsers[n], n, file, seen)
            clients.shutdown()
            print(f"{len(seen.receipts_s)} files handed in within {seconds(time.perf_counter() - began_s)}", flush=True)
            graded = wait_until_graded(folder, 3 * len(students))
            served_s = time.perf_counter() - began_s
        report(seen, folder, graded, served_s)
        compare(folder, options.sample, graded / served_s)
    return 0


def logged_in(server: RealServer, students: Sequence[str]) -> tuple[list[Client], list[Client]]:
    """Return a program and a browser of each student."""
    programs, browsers = [], []
    for one in students:
        programs.append(server.program(one))
        form = f"token={server.links[one]}".encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        browsers.append(Client(server.port, {"Cookie": Client(server.port).cookie("/login", form, kind)}))
    return programs, browsers


def source(student: int, file: int) -> tuple[str, bytes]:
    """Return the lesson and the bytes of one of the three files of a student."""
    third = TIMED if student < SAME else OTHER[1]
    lesson = (FAST, OTHER[0], third)[file]
    return lesson, f"{paths.solution(lesson).read_text(encoding='utf-8')}\n# {student}\n".encode()


def hand_in(program: Client, browser: Client, student: int, file: int, seen: Seen) -> None:
    """Hand in one file, and look at three pages as a student would."""
    lesson, data = source(student, file)
    began_s = time.perf_counter()
    status, receipt = program.hand_in(f"{lesson}.py", data)
    seen.add(seen.receipts_s, began_s, status, 201)
    for page in ("/", f"/lessons/{lesson}", f"/receipts/{receipt['number']}") if status == 201 else ():
        began_s = time.perf_counter()
        seen.add(seen.pages_s, began_s, browser.get(page)[0], 200)


def wait_until_graded(folder: Path, expected: int) -> int:
    """Wait until all hand-ins have a grade. Return their number."""
    while True:
        with closing(sqlite3.connect(folder / "grades" / "grades.sqlite")) as db:
            (graded,) = db.execute("SELECT count(*) FROM gradings WHERE NOT faulted").fetchone()
        if graded >= expected:
            return int(graded)
        time.sleep(1)


def report(seen: Seen, folder: Path, graded: int, served_s: float) -> None:
    """Print what the clients saw, and the different grades of the equal hand-ins."""
    for what, times in (("receipts", seen.receipts_s), ("pages", seen.pages_s)):
        ordered = sorted(times)
        at = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 1)]
        print(f"{what}: median {seconds(at[0])}, p95 {seconds(at[1])}, worst {seconds(at[2])} of {len(times)}")
    print(f"unexpected answers: {dict(seen.failures) or 'none'}")
    print(f"graded: {graded} in {seconds(served_s)}, {number(60 * graded / served_s)} per minute")
    with closing(sqlite3.connect(folder / "grades" / "grades.sqlite")) as db:
        query = (
            "SELECT group_concat(points) FROM (SELECT * FROM verdicts ORDER BY position) JOIN gradings ON id = grading"
        )
        grades = Counter(one for (one,) in db.execute(f"{query} WHERE lesson = '{TIMED}' AND NOT faulted GROUP BY id"))
        (voided,) = db.execute("SELECT count(*) FROM gradings WHERE faulted").fetchone()
    print(f"grades of the same code (points of its tasks): {dict(grades)}; gradings without a grade: {voided}")


def compare(folder: Path, sample: int, served_per_s: float) -> None:
    """Grade hand-ins of some students with `run`, and print the ratio of the rates."""
    part = folder.parent / "part"
    for n in range(sample):
        for file in range(3):
            lesson, data = source(n * 300 // sample, file)
            place = part / f"student{n}" / f"{lesson}.py"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    began_s = time.perf_counter()
    command = [sys.executable, "-m", "grader", "run", str(part), "--out", str(folder.parent / "out"), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    per_s = 3 * sample / (time.perf_counter() - began_s)
    print(f"`run`: {number(60 * per_s)} per minute; the server reached {percent(served_per_s / per_s)} of it")


if __name__ == "__main__":
    sys.exit(main())

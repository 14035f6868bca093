"""The process that grades what the server has taken in. The server starts it, and it ends with the server.

It takes the next hand-in from the database, grades it in a lane, and stores the grade. If it is killed, only the
gradings in its lanes are lost, and the next process begins them again.
"""

import argparse
import os
import signal
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader.class_run import grading
from grader.class_run.grading import Grade, HandInGrader
from grader.class_run.standing import Graded
from grader.records import Fault, Submission
from grader.server import intake, queue
from grader.server.course_folder import CourseFolder, OpenCourse
from grader.server.queue import Waiting

_LOOK_S: Final = 0.3  # between two looks for new hand-ins


@dataclass(slots=True)
class GradingLoop:
    """Grades hand-ins of an open course in `jobs` lanes of the `executor`, and stores the grades."""

    course: CourseFolder
    opened: OpenCourse
    grade: Grade
    executor: Executor
    jobs: int
    running: dict[Future[Graded], tuple[Waiting, Submission]] = field(default_factory=dict)
    _seen: int = -1  # the version of the database at the last look at the queue

    def step(self) -> None:
        """Fill the free lanes from the queue, wait a moment, and store the grades that are ready."""
        with suppress(OSError):  # a full disk
            self.course.heartbeat.touch()
        if len(self.running) < self.jobs and self._is_changed():
            taken = {one.key for one, _ in self.running.values()}
            for one in [one for one in queue.waiting(self.opened) if one.key not in taken]:
                if len(self.running) < self.jobs:
                    self._start(one)
        if not self.running:
            threading.Event().wait(_LOOK_S)
            return
        for future in wait(self.running, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
            self._store(future, *self.running.pop(future))

    def _is_changed(self) -> bool:
        before, (self._seen,) = self._seen, self.opened.db.execute("PRAGMA data_version").fetchone()
        return before != self._seen

    def _start(self, one: Waiting) -> None:
        submission = intake.submission(self.course, self.opened, one.hand_in.sender, *one.key)
        with self.opened.book.transaction() as db:
            if submission is None:  # the file was deleted
                db.execute("UPDATE hand_ins SET there = 0 WHERE (lesson, content) = (?, ?)", one.key)
                db.execute("DELETE FROM regrades WHERE (lesson, content) = (?, ?)", one.key)
                return
            db.execute("INSERT INTO in_lanes VALUES (?, ?, ?)", (*one.key, datetime.now(UTC).isoformat()))
        self.running[self.executor.submit(self._grader().graded, submission)] = one, submission

    def _store(self, future: Future[Graded], one: Waiting, submission: Submission) -> None:
        failure = future.exception()
        graded = self._grader().lost(submission, Fault.of(failure)) if failure else future.result()
        grading.keep(graded, self.opened.book, self._grader(), again=one.again, held=one.again)
        with self.opened.book.transaction() as db:
            db.execute("DELETE FROM in_lanes WHERE (lesson, content) = (?, ?)", one.key)
            if one.again:
                db.execute("DELETE FROM regrades WHERE (lesson, content) = (?, ?)", one.key)
        self._seen = -1

    def _grader(self) -> HandInGrader:
        book = self.opened.book
        return HandInGrader(self.grade, book.secret_seed(), book.tasks(), sandboxed=True)


def main(arguments: list[str]) -> int:
    """Grade the hand-ins of a course until standard input ends, which happens when the server ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("course", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scheduler", default="")
    given = parser.parse_args(arguments)
    threading.Thread(target=_end_with_server, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the server, which ends this process
    course, hidden = CourseFolder(given.course), [given.course.resolve()]
    with grading.lanes(given.jobs, given.scheduler, hidden, sandboxed=True, warn=print) as (grade, executor, about):
        print(f"Grading in {about}.", flush=True)
        with course.opened() as opened:
            with opened.book.transaction() as db:
                db.execute("DELETE FROM in_lanes")  # of a process that was killed
            loop = GradingLoop(course, opened, grade, executor, given.jobs)
            while True:
                loop.step()


def _end_with_server() -> None:
    with suppress(OSError):
        sys.stdin.buffer.read()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

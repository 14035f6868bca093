"""Read the files that arrived, each in a process of its own, because a file can take long or end its process.

The receipts in the database are the queue, so nothing is lost if any process is killed. At most one file of each
student is read at the same time, and students take turns.
"""

import os
import resource
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Final

from grader.errors import FairclockError
from grader.server import intake
from grader.server.course_folder import CourseFolder

_READERS: Final = 2
_MOST_BYTES: Final = 2_000_000_000  # of memory for one process
_MOST_S: Final = 180.0
"""The seconds in which a file must be read. Reading takes at most 60 CPU seconds, or is refused."""

_NICENESS: Final = 10  # the processes share the core of the server
_MOST_TRIES: Final = 3
_LATER_S: Final = 2.0  # before the next try, and between two looks for new files
_FULL: Final = 75  # the exit status of a process that could not store its result


@dataclass(slots=True)
class Readers:
    """Reads files of `course` in other processes, until `close` is called. Threads may share it."""

    course: CourseFolder
    _wake: threading.Event = field(default_factory=threading.Event)
    _closed: bool = False
    _reading: dict[int, str] = field(default_factory=dict)
    _turns: dict[str, int] = field(default_factory=dict)  # the number of each student's last turn
    _tries: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Begin to read, also the files that arrived before the last start of the server."""
        context = get_context("forkserver")
        context.set_forkserver_preload([intake.__name__])
        for _ in range(_READERS):
            threading.Thread(target=self._work, daemon=True).start()

    def notice(self) -> None:
        """Read a file that has just arrived soon. Return without waiting for it."""
        self._wake.set()

    def close(self) -> None:
        """Begin no other file."""
        self._closed = True
        self._wake.set()

    def _work(self) -> None:
        while not self._closed:
            number = None
            with suppress(FairclockError, OSError):  # a full disk, or a file that another program uses
                number = self._next()
                if number is not None:
                    self._read(number)
            with self._lock:
                self._reading.pop(number or 0, None)
            if number is None:
                self._wake.wait(_LATER_S)
                self._wake.clear()

    def _next(self) -> int | None:
        with self._lock, self.course.opened() as opened:
            waiting = [one for one in intake.unread(opened.db) if one[1] not in self._reading.values()]
            if not waiting:
                return None
            number, student = min(waiting, key=lambda one: self._turns.get(one[1], 0))
            self._turns[student] = max(self._turns.values(), default=0) + 1
            self._reading[number] = student
            return number

    def _read(self, number: int) -> None:
        process = get_context("forkserver").Process(target=_read, args=(self.course, number))
        process.start()
        process.join(_MOST_S)
        if process.exitcode is None:
            process.kill()
            process.join()
        if process.exitcode == _FULL:
            threading.Event().wait(_LATER_S)
        elif process.exitcode:
            self._tries[number] += 1
            if self._tries[number] >= _MOST_TRIES:
                intake.give_up(self.course, number)


def _read(course: CourseFolder, number: int) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    try:
        intake.read(course, number)
    except FileNotFoundError:
        raise
    except (FairclockError, OSError):
        raise SystemExit(_FULL) from None

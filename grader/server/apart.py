"""Work that takes seconds, such as the page on a large class, in another process, so that the server answers others."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from threading import Lock
from typing import Final, ParamSpec, TypeVar

from grader import reports
from grader.reports import class_page
from grader.server.course_folder import CourseFolder, OpenCourse

P = ParamSpec("P")
T = TypeVar("T")

_ONE: Final = Lock()
_NICENESS: Final = 10  # the process shares the core of the server


def run(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Return what a function returns in a process of its own. Only one such process works at a time."""
    context = get_context("forkserver")
    with _ONE, ProcessPoolExecutor(1, mp_context=context, initializer=os.nice, initargs=(_NICENESS,)) as pool:
        return pool.submit(function, *arguments, **named).result()


_STATE: Final = """SELECT (SELECT count(*) + max(rowid) FROM hand_ins WHERE there), (SELECT count(*) FROM left_out),
    (SELECT group_concat(state || n) FROM (SELECT state, count(*) AS n FROM gradings GROUP BY state)),
    (SELECT max(id) FROM by_hand), (SELECT group_concat(value) FROM meta WHERE key IN ('course', 'roster'))"""
_OLD_S: Final = 600.0  # the page changes at due dates, too


@dataclass(slots=True)
class ClassReport:
    """The page on the whole class, which is made again after a change of the database. Threads may share it."""

    course: CourseFolder
    _state: object = None
    _made_s: float = 0.0
    _page: str = ""
    _lock: Lock = field(default_factory=Lock)

    def page(self, opened: OpenCourse) -> str:
        """Return the page as HTML."""
        with self._lock:
            state = tuple(opened.db.execute(_STATE).fetchone())
            if state != self._state or time.monotonic() - self._made_s >= _OLD_S:
                self._page, self._state, self._made_s = run(rendered, self.course), state, time.monotonic()
            return self._page


def rendered(course: CourseFolder) -> str:
    """Return the page on the whole class as HTML."""
    with course.opened() as opened:
        roll = opened.book.roll()
    return class_page.render(roll, reports.known_tasks(roll))

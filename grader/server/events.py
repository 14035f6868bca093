"""Tell each browser live what its student waits for: files that are read, and places in the queue.

One thread looks about once a second whether the database has changed, and computes the queue once for everybody. It
runs only while a browser listens. Each browser gets the sentences of its own student, and no request for them reaches
the database.
"""

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from grader.class_run.grading import Key
from grader.errors import FairclockError
from grader.server import queue
from grader.server.clock import ServerClock
from grader.server.course_folder import CourseFolder, OpenCourse
from grader.server.queue import QueuePlace, Waiting
from grader.server.requests import logged_in, login_of, service_of, student

router = APIRouter()

_LOOK_S: Final = 1.0  # between two looks at the version of the database
_OLD_S: Final = 10.0  # an estimate changes with time, also if the database does not
_ALIVE_S: Final = 15.0  # between two messages, so that no proxy closes a silent connection
_MOST_S: Final = 600.0  # then the browser connects again, with a login that is checked again

READING: Final = "The server has your file, and reads it in a moment."
_STATE: Final = """SELECT (SELECT max(rowid) FROM hand_ins), (SELECT max(id) FROM gradings),
    (SELECT count(*) FROM regrades), (SELECT group_concat(started_utc) FROM in_lanes),
    (SELECT group_concat(value) FROM meta WHERE key = 'course')"""
_OWNERS: Final = "SELECT DISTINCT student, lesson, content FROM hand_ins WHERE there"
_UNREAD: Final = "SELECT id, student FROM receipts WHERE NOT is_read"


def wait_id(lesson: str, content: str) -> str:
    """Return the text that identifies a waiting hand-in on a page and in a message."""
    return f"{lesson}/{content[:16]}"


def receipt_id(number: int) -> str:
    """Return the text that identifies a file that waits to be read."""
    return f"receipt/{number}"


def wait_text(place: QueuePlace | None) -> str:
    """Return a sentence on the place of a hand-in in the queue and on its wait. The place may not be known yet."""
    if place is None:
        return "Waits for its grade."
    minutes = place.wait.total_seconds() / 60
    about = "less than a minute" if minutes < 1 else f"about {round(minutes)} min"
    if minutes >= 90:
        about = f"about {round(minutes / 60)} hours"
    if place.place == 0:
        return f"It is being graded now: {about} left."
    return f"Number {place.place} in the queue: {about} until its grade."


def _listener(request: Request) -> str:
    """Return the name of the student who made the request. The database is closed again before the first message."""
    with service_of(request).course.opened() as opened:
        request.state.login = logged_in(request, opened)
    return student(login_of(request)).account.name


Listener = Annotated[str, Depends(_listener)]
Sentences = Mapping[str, str]
"""What one student waits for: sentences by `wait_id` or `receipt_id`."""


@dataclass(slots=True)
class LiveQueue:
    """The queue of a course, computed once for all pages and for all browsers that listen.

    `is_ending` returns whether the server is about to end, so that no open connection delays its end. After each
    computation, the queue is not computed again for `rest` times as long as that took, also if it has changed.
    """

    course: CourseFolder
    lanes: int
    clock: ServerClock
    is_ending: Callable[[], bool] = lambda: False
    rest: float = 4.0
    listeners: int = 0
    _places: Mapping[Key, QueuePlace] = field(default_factory=dict)
    _waiting: Sequence[Waiting] = ()
    _state: tuple[object, ...] = ()
    _computed_s: float = 0.0
    _took_s: float = 0.0
    _sentences: Mapping[str, Sentences] | None = None
    _is_watched: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def places(self, opened: OpenCourse, *, at_once: bool = False) -> Mapping[Key, QueuePlace]:
        """Return the estimate for each hand-in that waits. With `at_once`, a change is never left for later."""
        with self._lock:
            state, age_s = tuple(opened.db.execute(_STATE).fetchone()), time.monotonic() - self._computed_s
            is_due = state != self._state and (at_once or age_s >= self.rest * self._took_s)
            if is_due or age_s >= _OLD_S:
                began_s = time.monotonic()
                self._waiting = queue.waiting(opened)
                self._places = queue.estimates(opened, self._waiting, self.lanes, self.clock.now())
                self._state, self._computed_s = state, time.monotonic()
                self._took_s = self._computed_s - began_s
            return self._places

    def waiting(self, opened: OpenCourse) -> Sequence[Waiting]:
        """Return the hand-ins that wait for their grade, in the order in which they will be graded."""
        self.places(opened)
        return self._waiting

    async def messages(self, student: str) -> AsyncIterator[str]:
        """Yield the sentences of a student as server-sent events, at once and after each change."""
        self.listeners += 1
        sent, heard_s = None, time.monotonic()
        ends_s = heard_s + _MOST_S
        try:
            while time.monotonic() < ends_s and not self.is_ending():
                self._be_watched()
                now = None if self._sentences is None else self._sentences.get(student, {})
                if now != sent or time.monotonic() - heard_s > _ALIVE_S:
                    yield f"data: {json.dumps(now)}\n\n" if now != sent else ": still connected\n\n"
                    sent, heard_s = now, time.monotonic()
                await asyncio.sleep(_LOOK_S if now is not None else _LOOK_S / 10)
        finally:
            self.listeners -= 1

    def _be_watched(self) -> None:
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        try:
            with suppress(FairclockError, OSError), self.course.opened() as opened:
                seen, computed_s = None, 0.0
                while self.listeners and not self.is_ending():
                    (version,) = opened.db.execute("PRAGMA data_version").fetchone()
                    if version != seen or time.monotonic() - computed_s >= _OLD_S:
                        self._sentences = self._computed(opened)
                        seen, computed_s = version, time.monotonic()
                    time.sleep(max(_LOOK_S, self.rest * self._took_s))
        finally:
            self._is_watched, self._sentences = False, None

    def _computed(self, opened: OpenCourse) -> Mapping[str, Sentences]:
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for number, name in opened.db.execute(_UNREAD):
            found[name][receipt_id(number)] = READING
        places, course = self.places(opened, at_once=True), opened.book.course()
        for name, lesson, content in opened.db.execute(_OWNERS):
            if (lesson, content) not in places:
                continue
            team = course.team(name, lesson)
            for one in team.students if team else (name,):
                found[one][wait_id(lesson, content)] = wait_text(places[lesson, content])
        return found


def live_of(request: Request) -> LiveQueue:
    """Return the live queue of the course."""
    live = request.app.state.live
    assert isinstance(live, LiveQueue)
    return live


@router.get("/events", response_class=StreamingResponse)
async def events(request: Request, name: Listener) -> StreamingResponse:
    """Send the sentences on what the student waits for, as long as the browser listens."""
    headers = {"X-Accel-Buffering": "no"}  # nginx would collect the messages
    return StreamingResponse(live_of(request).messages(name), media_type="text/event-stream", headers=headers)

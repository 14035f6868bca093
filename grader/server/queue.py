"""The queue of hand-ins that wait for their grade, and when each of them will have it.

The queue is what the database holds: the attempts that may count by the rules of the course and have no grade. A
student's second waiting hand-in comes after the first ones of all others, so no student can fill the queue.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from grader.class_run.grading import Key
from grader.course.results import HandIn
from grader.server.course_folder import OpenCourse

MOST_FAILURES: Final = 3
"""After this number of gradings that failed for the grader's reasons, a person must decide what to do."""

_RECENT: Final = 20
_FIRST_GUESS_S: Final = 20.0  # before anything was graded; most lessons take 1 to 20 s


@dataclass(frozen=True, slots=True)
class Waiting:
    """A hand-in that waits for its grade. `failed` is the number of gradings that failed for the grader's reasons.

    `again` is True if the hand-in has a grade, and one of staff asked for another.
    """

    hand_in: HandIn
    at: datetime | None
    failed: int = 0
    again: bool = False

    @property
    def key(self) -> Key:
        """The key of its grade, which hand-ins with equal content share."""
        return self.hand_in.lesson, self.hand_in.content


def waiting(opened: OpenCourse) -> list[Waiting]:
    """Return the hand-ins without a grade, in the order in which they will be graded. Equal content is listed once."""
    failed, lessons = _failures(opened), opened.book.waiting()
    found: dict[Key, Waiting] = {}
    for of in lessons:
        for row in of.may_count:
            if row.hand_in in of.needed:
                new = Waiting(row.hand_in, row.at, failed[row.hand_in.lesson, row.hand_in.content])
                found[new.key] = min(new, found.get(new.key, new), key=_moment)
    turns: Counter[str] = Counter()
    ordered = []
    for one in sorted(found.values(), key=_moment):
        ordered.append((one.failed, turns[one.hand_in.sender], _moment(one), one))
        turns[one.hand_in.sender] += 1
    first = [one for failures, *_, one in sorted(ordered, key=lambda row: row[:3]) if failures < MOST_FAILURES]
    listed = {one.key for one in first}
    return [*first, *(one for one in _asked_again(opened) if one.key not in listed)]


def _asked_again(opened: OpenCourse) -> list[Waiting]:
    query = """SELECT h.student, h.lesson, h.path, h.sha256, h.content, h.folder, asked_utc FROM regrades AS r
        JOIN hand_ins AS h ON (h.lesson, h.content) = (r.lesson, r.content) GROUP BY h.lesson, h.content
        ORDER BY asked_utc"""
    rows = opened.db.execute(query)
    return [Waiting(HandIn(*of), datetime.fromisoformat(asked), again=True) for *of, asked in rows]


def stuck(opened: OpenCourse) -> int:
    """Return the number of different hand-ins that the grader could not grade, so that a person must decide."""
    return sum(failures >= MOST_FAILURES for failures in _failures(opened).values())


def _moment(one: Waiting) -> tuple[float, str, str]:
    return (one.at.timestamp() if one.at else 0.0, one.hand_in.student, one.hand_in.lesson)


def _failures(opened: OpenCourse) -> Counter[Key]:
    query = "SELECT lesson, content, min(faulted), count(*) FROM gradings GROUP BY lesson, content"
    rows = opened.db.execute(query)
    return Counter({(lesson, content): count for lesson, content, only_faults, count in rows if only_faults})


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """When a hand-in will be graded: its place in the queue (1 is next, 0 is graded now), and the expected wait."""

    place: int
    wait: timedelta


def estimates(opened: OpenCourse, queue: Sequence[Waiting], lanes: int, now: datetime) -> dict[Key, QueuePlace]:
    """Return an estimate for each hand-in that waits or is graded now.

    A grading takes the median of the last ones of its lesson, or of all lessons, and each lane takes the next hand-in.
    """
    running = {
        (lesson, content): datetime.fromisoformat(at)
        for lesson, content, at in opened.db.execute("SELECT * FROM in_lanes")
    }
    seconds = usual_seconds(opened, {lesson for lesson, _ in (*running, *(one.key for one in queue))})
    left = {key: max(0.0, seconds[key[0]] - (now - at).total_seconds()) for key, at in running.items()}
    found = {key: QueuePlace(0, timedelta(seconds=of)) for key, of in left.items()}
    ends = [*left.values(), *[0.0] * lanes][: max(lanes, 1)]
    for place, one in enumerate((one for one in queue if one.key not in running), 1):
        ends.sort()
        ends[0] += seconds[one.key[0]]
        found[one.key] = QueuePlace(place, timedelta(seconds=ends[0]))
    return found


def usual_seconds(opened: OpenCourse, lessons: Collection[str]) -> dict[str, float]:
    """Return how long a grading of each of these lessons takes, in seconds."""

    def recent(lesson: str | None) -> list[float]:
        query = "SELECT duration_s FROM gradings WHERE lesson = coalesce(?, lesson) AND duration_s > 0 ORDER BY id DESC"
        return [seconds for (seconds,) in opened.db.execute(f"{query} LIMIT {_RECENT}", [lesson])]

    usual = statistics.median(recent(None) or [_FIRST_GUESS_S])
    return {lesson: statistics.median(recent(lesson) or [usual]) for lesson in lessons}

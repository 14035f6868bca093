"""Find the time of each hand-in, read the submissions in its files, and decide which of them are attempts."""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from grader.course.dates import LocalTime, read_time
from grader.hand_ins.entries import FolderEntry
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.notebooks import read_notebook
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal, digest, python_text
from grader.records import Fault, Submission, TimeSource
from grader.source import Source

MACHINE_ERRORS: Final = frozenset(
    {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ETIMEDOUT, errno.ESTALE, errno.EINTR}
)
"""The errno values for which the grading machine is to blame. A student's file is never refused because of them."""

_SAME_S: Final = 60  # two times that differ by at most this many seconds do not disagree

_NAMED: Final = 5  # the maximum number of files that a sentence names one by one
_SOURCES: Final = {
    TimeSource.PLATFORM: "the platform's time",
    TimeSource.FOLDER: "the time in the folder's name",
    TimeSource.FILE: "the file's own time",
}

Times = dict[TimeSource, datetime]
"""The times that the sources of a hand-in's time give, in UTC."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, folder or zip of one or more students (a group). `shown` is its path in reports.

    `hand_in` is the same for all files that were handed in together. `times` has what is known about the time, and
    `source` the source if no time is known. `own` are the sources of times that are used below this folder.
    """

    students: tuple[str, ...]
    shown: str
    hand_in: str
    times: Times
    source: TimeSource = TimeSource.UNKNOWN
    own: frozenset[TimeSource] = frozenset({TimeSource.FOLDER, TimeSource.FILE})

    def inside(self, entry: FolderEntry, zone: tzinfo) -> "Location":
        """Return the location of a file in this folder."""
        times = dict(self.times)
        if entry.modified and TimeSource.FILE in self.own:
            times[TimeSource.FILE] = entry.modified
        if len(entry.path) > 1 and TimeSource.FOLDER in self.own and (at := read_time(entry.path[0], zone)):
            times[TimeSource.FOLDER] = at
        return replace(self, shown=entry.shown, times=times)

    @property
    def at(self) -> tuple[TimeSource, datetime | None]:
        """The source of the time that counts, and this time or None."""
        best = next((source for source in TimeSource if source in self.times), None)
        return (best, self.times[best]) if best else (self.source, None)

    def submissions(self, lesson: str, data: bytes, source: Source | None, refusal: str = "") -> list[Submission]:
        """Return each student's submission. `source` is the code in the bytes `data`, or None if refused."""
        when, at = self.at
        one = Submission("", lesson, self.shown, digest(data), source, refusal, handed_in=at, time_source=when)
        return [replace(one, student=student) for student in self.students]

    def failed(self, lesson: str, error: Exception, data: bytes = b"") -> list[Submission]:
        """Return submissions for a file on which an exception was raised, so that the next files can be collected.

        A `Refusal`, or an `OSError` that the file itself causes, gives a refusal. Any other exception is a fault of the
        grader: the students lose no points, and the next run tries the hand-in again.
        """
        if isinstance(error, OSError) and error.errno not in MACHINE_ERRORS:
            why = f"{self.shown} could not be read ({error.strerror or type(error).__name__}); hand it in again."
            error, data = Refusal(why), b""
        if isinstance(error, Refusal):
            return self.submissions(lesson, data or str(error).encode(), None, str(error))
        data = data or f"{self.shown}: {type(error).__name__}".encode()
        return [replace(one, fault=Fault.of(error)) for one in self.submissions(lesson, data, None)]


def disagreements(places: Sequence[Location], zone: tzinfo) -> Iterator[str]:
    """Yield sentences on exercise files whose sources give different times, each with the source that counts."""
    found: dict[tuple[TimeSource, TimeSource], list[Location]] = {}
    for place in places:
        counted, at = place.at
        for source, time in place.times.items():
            if at and abs((time - at).total_seconds()) > _SAME_S:
                found.setdefault((counted, source), []).append(place)
    for (used, other), of_pair in found.items():
        named = of_pair if len(of_pair) <= _NAMED else of_pair[:1]
        for place in named:
            times = [LocalTime.at_utc(place.times[source], zone) for source in (used, other)]
            where = place.shown if len(of_pair) <= _NAMED else f"{len(of_pair)} files, such as {place.shown}"
            yield f"{where}: {_SOURCES[used]} counts ({times[0]}), not {_SOURCES[other]} ({times[1]})"


READERS: dict[str, tuple[int, Callable[[bytes, str], Source]]] = {
    ".py": (MAX_SOURCE_BYTES, python_text),
    ".ipynb": (MAX_NOTEBOOK_BYTES, read_notebook),
}
"""The maximum size in bytes, and the function that returns the code, by the suffix of an exercise file."""


def submissions_in(
    place: Location, entry: FolderEntry, lesson: str, suffix: str, listed: Manifest | None = None
) -> list[Submission]:
    """Return the submission of each student in an exercise file. `listed` is the manifest of its zip."""
    limit, text_of = READERS[suffix]
    data = b""
    try:
        data = entry.read(limit)
        if listed:
            listed.check("/".join(entry.path), digest(data))
        return place.submissions(lesson, data, text_of(data, entry.name))
    except Exception as error:  # noqa: BLE001 - any error stops only this file
        return place.failed(lesson, error, data)


def distinct(given: Sequence[tuple[str, Submission]]) -> Iterable[Submission]:
    """Return the attempts of a student at a lesson in order of time. Equal files are one attempt.

    Different files that were handed in together are one refused attempt. Folders with a time are different hand-ins.
    """
    slots: dict[tuple[str, datetime | None], dict[str, Submission]] = {}
    for key, one in given:
        at = one.handed_in if one.time_source is TimeSource.FOLDER else None
        slots.setdefault((key, at), {}).setdefault(one.content, one)
    sources = list(TimeSource)
    attempts = [_only_one(tuple(files.values())) for files in slots.values()]
    attempts.sort(key=lambda one: (sources.index(one.time_source), one.handed_in or datetime.min.replace(tzinfo=UTC)))
    distinct: dict[str, Submission] = {}
    for one in attempts:
        distinct.setdefault(one.content, one)
    return sorted(distinct.values(), key=lambda one: (one.handed_in is not None, one.handed_in))


def _only_one(given: Sequence[Submission]) -> Submission:
    if len(given) == 1:
        return given[0]
    names = sorted(submission.path for submission in given)
    paths = " and ".join([*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
    why = f"{given[0].lesson} was handed in more than once, as {paths}; hand in only one of these files."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)

"""Read the bytes of a student's file, and make a `Submission` from them or from the error."""

import errno
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from grader.hand_ins import timestamps
from grader.hand_ins.refusal import Refusal, digest
from grader.records import Fault, Submission

MACHINE_ERRORS: Final = frozenset(
    {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ETIMEDOUT, errno.ESTALE, errno.EINTR}
)
"""The errno values for which the grading machine is to blame. A student's file is never refused because of them."""


@dataclass(frozen=True, slots=True)
class Location:
    """A folder or file of one student. `shown` is its path in reports. A file outside `home` must not be read.

    `at` is the time of the hand-in if a folder's name gives one, and `zone` the time zone of such names. `dated` is
    False if the file's modification time is not the time of the hand-in.
    """

    path: Path
    home: Path
    student: str
    shown: str
    at: datetime | None = None
    zone: tzinfo = UTC
    dated: bool = True


def read(location: Location, limit: int) -> bytes:
    """Return the bytes of a student's file.

    Raise `Refusal` if it is not a plain file below `location.home`, or has more than `limit` bytes.
    """
    shown = location.shown
    real = Path(os.path.realpath(location.path, strict=True))
    if not real.is_relative_to(location.home):
        raise Refusal(f"{shown} is a link that leads out of its folder; hand in the file itself.")
    if real.is_dir():
        raise Refusal(f"{shown} is a folder; hand in a file of that name.")
    if not real.is_file():
        raise Refusal(f"{shown} is not a plain file; hand in the file itself.")
    with real.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Refusal(f"{shown} is larger than {limit:,} bytes; hand in only the exercise.")
    return data


def accepted(location: Location, lesson: str, data: bytes, source: str) -> Submission:
    """Return the submission for a file that was not refused. `source` is the Python text in its bytes `data`."""
    return _submission(location, lesson, data, source)


def refused(location: Location, lesson: str, why: str, data: bytes = b"") -> Submission:
    """Return a submission without source, refused for the reason `why`.

    Its digest is that of `data`, or that of `why` without data.
    """
    return _submission(location, lesson, data or why.encode(), None, why)


def failed(location: Location, lesson: str, error: Exception, data: bytes = b"") -> Submission:
    """Return a submission for a file on which an exception was raised, so that the next files can be collected.

    A `Refusal`, or an `OSError` that the file itself causes, gives a refusal. Any other exception is a fault of the
    grader: the student loses no points, and the next run tries the hand-in again.
    """
    if isinstance(error, Refusal):
        return refused(location, lesson, str(error), data)
    if isinstance(error, OSError) and error.errno not in MACHINE_ERRORS:
        why = f"{location.shown} could not be read ({error.strerror or type(error).__name__}); hand it in again."
        return refused(location, lesson, why)
    # The file's modification time is not read here, because reading it may have caused the failure.
    unread = replace(location, dated=False)
    data = data or f"{location.shown}: {type(error).__name__}".encode()
    return replace(_submission(unread, lesson, data, None), fault=Fault.of(error))


def _submission(location: Location, lesson: str, data: bytes, source: str | None, why: str = "") -> Submission:
    at = location.at or (timestamps.of_file(location.path) if location.dated else None)
    timed = location.at is not None
    return Submission(location.student, lesson, location.shown, digest(data), source, why, handed_in=at, timed=timed)

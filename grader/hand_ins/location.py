"""Where one student's hand-in lies, how its bytes are read, and what becomes of it when that fails."""

import errno
import os
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from grader.hand_ins import moments
from grader.hand_ins.refusal import Refusal, digest
from grader.records import Fault, Submission

MACHINE: Final = frozenset(
    {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ETIMEDOUT, errno.ESTALE, errno.EINTR}
)
"""Errors of the machine that grades: they say nothing about the file, so no file is refused for them."""


@dataclass(frozen=True, slots=True)
class Location:
    """A folder or file of one student, `shown` to people so; nothing outside `home` belongs to it.

    `at` is when it was handed in, where a folder's name says it; offsets missing there are those of `zone`. Where it is
    not `dated`, its file's own time says nothing.
    """

    path: Path
    home: Path
    student: str
    shown: str
    at: datetime | None = None
    zone: tzinfo = UTC
    dated: bool = True


def read(location: Location, limit: int) -> bytes:
    """Return the bytes of a plain file that lies in its home. Raises `Refusal` for anything else."""
    shown = location.shown
    real = Path(os.path.realpath(location.path, strict=True))
    if not real.is_relative_to(location.home):
        raise Refusal(f"{shown} is a link that leads out of its folder; hand in the file itself.")
    if real.is_dir():
        raise Refusal(f"{shown} is a folder; hand in a file of that name.")
    if not real.is_file():
        raise Refusal(f"{shown} is no plain file; hand in the file itself.")
    with real.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Refusal(f"{shown} is larger than {limit:,} bytes; hand in the exercise alone.")
    return data


def taken(location: Location, lesson: str, data: bytes, source: str) -> Submission:
    """Return the submission of a file whose bytes were read as Python text."""
    at, timed = _when(location)
    return Submission(location.student, lesson, location.shown, digest(data), source, handed_in=at, timed=timed)


def refused(location: Location, lesson: str, why: str, data: bytes = b"") -> Submission:
    """Return a submission without source. Where no bytes could be read, its digest is that of the reason."""
    at, timed = _when(location)
    digest_ = digest(data or why.encode())
    return Submission(location.student, lesson, location.shown, digest_, None, why, handed_in=at, timed=timed)


def failed(location: Location, lesson: str, error: Exception, data: bytes = b"") -> Submission:
    """Return the submission that came of an exception, whatever it is, so that collecting goes on with the next.

    A `Refusal`, or an `OSError` that the file itself is the reason for, is a refusal. Anything else is a fault of the
    grader: it costs the student nothing, and the hand-in is tried again by the next run.
    """
    if isinstance(error, Refusal):
        return refused(location, lesson, str(error), data)
    if isinstance(error, OSError) and error.errno not in MACHINE:
        why = f"{location.shown} could not be read ({error.strerror or type(error).__name__}); hand it in again."
        return refused(location, lesson, why)
    # The file's own time is not asked for: that may be what failed.
    digest_ = digest(data or f"{location.shown}: {type(error).__name__}".encode())
    return Submission(
        location.student,
        lesson,
        location.shown,
        digest_,
        None,
        handed_in=location.at,
        timed=location.at is not None,
        fault=Fault.of(error),
    )


def _when(location: Location) -> tuple[datetime | None, bool]:
    """When something was handed in, and whether its folder's name says so."""
    if location.at:
        return location.at, True
    return moments.of_file(location.path) if location.dated else None, False

"""Read the bytes of a student's file, find the time of the hand-in, and make a `Submission` from the file."""

import errno
import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from grader.hand_ins.refusal import Refusal, digest
from grader.records import Fault, Submission, TimeSource
from grader.source import Source

MACHINE_ERRORS: Final = frozenset(
    {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ETIMEDOUT, errno.ESTALE, errno.EINTR}
)
"""The errno values for which the grading machine is to blame. A student's file is never refused because of them."""

_TIME = re.compile(  # such as 2026-11-20T23-59-00, 20261120T225900Z, 2026-11-20_23.59+0100
    r"(\d{4})-?(\d\d)-?(\d\d)[T_ ](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?(?:(Z)|([+-])(\d\d)[-:]?(\d\d))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Location:
    """A folder or file of one student. `shown` is its path in reports. A file outside `home` must not be read.

    `at` is the time in a folder's name. `dated` is False if the file's own date is not the time of the hand-in.
    """

    path: Path
    home: Path
    student: str
    shown: str
    at: datetime | None = None
    dated: bool = True

    def read(self, limit: int) -> bytes:
        """Return the bytes of a plain file below `home`. Raise `Refusal` for others, and above `limit` bytes."""
        real = Path(os.path.realpath(self.path, strict=True))
        if not real.is_relative_to(self.home):
            raise Refusal(f"{self.shown} is a link that leads out of its folder; hand in the file itself.")
        if real.is_dir():
            raise Refusal(f"{self.shown} is a folder; hand in a file of that name.")
        if not real.is_file():
            raise Refusal(f"{self.shown} is not a plain file; hand in the file itself.")
        with real.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise Refusal(f"{self.shown} is larger than {limit:,} bytes; hand in only the exercise.")
        return data

    def submission(self, lesson: str, data: bytes, source: Source | None, refusal: str = "") -> Submission:
        """Return the submission of the file. `source` is the code in its bytes `data`, or None if refused."""
        at, when = self.at or (_modified(self.path) if self.dated else None), TimeSource.FOLDER
        if not self.at:
            when = TimeSource.FILE if at else TimeSource.UNKNOWN
        return Submission(
            self.student, lesson, self.shown, digest(data), source, refusal, handed_in=at, time_source=when
        )

    def failed(self, lesson: str, error: Exception, data: bytes = b"") -> Submission:
        """Return a submission for a file on which an exception was raised, so that the next files can be collected.

        A `Refusal`, or an `OSError` that the file itself causes, gives a refusal. Any other exception is a fault of the
        grader: the student loses no points, and the next run tries the hand-in again.
        """
        if isinstance(error, OSError) and error.errno not in MACHINE_ERRORS:
            why = f"{self.shown} could not be read ({error.strerror or type(error).__name__}); hand it in again."
            error, data = Refusal(why), b""
        if isinstance(error, Refusal):
            return self.submission(lesson, data or str(error).encode(), None, str(error))
        # The file's modification time is not read here, because reading it may have caused the failure.
        data = data or f"{self.shown}: {type(error).__name__}".encode()
        return replace(replace(self, dated=False).submission(lesson, data, None), fault=Fault.of(error))


def folder_time(name: str, zone: tzinfo) -> datetime | None:
    """Return the time in a folder's name, in UTC, or None. A time without an offset is in the time zone `zone`."""
    match = _TIME.fullmatch(name)
    if not match:
        return None
    *numbers, utc, sign, hours, minutes = match.groups()
    text = "{}-{}-{}T{}:{}:{}".format(*numbers[:5], numbers[5] or "00")
    offset = f"{sign}{hours}:{minutes}" if sign else utc or ""
    try:
        at = datetime.fromisoformat(text + offset)
        return (at if offset else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _modified(path: Path) -> datetime | None:
    """Return the modification time of a file, in UTC and to the second, or None when it is unknown."""
    try:
        return datetime.fromtimestamp(int(path.lstat().st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return None

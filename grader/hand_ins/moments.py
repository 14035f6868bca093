"""When something was handed in: by the name of a folder, or by a file's own time."""

import re
from datetime import UTC, datetime, tzinfo
from pathlib import Path

_TIME = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)[T_ ](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?(?:(Z)|([+-])(\d\d)[-:]?(\d\d))?", re.ASCII
)
"""ISO 8601, also as file systems can hold it: 2026-11-20T23-59-00, 20261120T225900Z, 2026-11-20_23.59+0100."""


def of_folder(name: str, zone: tzinfo) -> datetime | None:
    """Return the moment, in UTC, that a folder's name says; an offset missing there is that of `zone`. Else None."""
    match = _TIME.fullmatch(name)
    if not match:
        return None
    *numbers, utc, sign, hours, minutes = match.groups()
    text = "{}-{}-{}T{}:{}:{}".format(*numbers[:5], numbers[5] or "00")
    try:
        if utc or sign:
            at = datetime.fromisoformat(text + ("+00:00" if utc else f"{sign}{hours}:{minutes}"))
        else:
            at = datetime.fromisoformat(text).replace(tzinfo=zone)
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def of_file(path: Path) -> datetime | None:
    """Return the time of the file itself, in UTC and to the second; None where it cannot be known."""
    try:
        return datetime.fromtimestamp(int(path.lstat().st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return None

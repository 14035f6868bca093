"""Read the time of a hand-in from a folder's name or from the file's modification time."""

import re
from datetime import UTC, datetime, tzinfo
from pathlib import Path

_TIME = re.compile(  # such as 2026-11-20T23-59-00, 20261120T225900Z, 2026-11-20_23.59+0100
    r"(\d{4})-?(\d\d)-?(\d\d)[T_ ](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?(?:(Z)|([+-])(\d\d)[-:]?(\d\d))?", re.ASCII
)


def of_folder(name: str, zone: tzinfo) -> datetime | None:
    """Return the time in a folder's name, in UTC, or None if the name is not a time.

    A time without an offset is in the time zone `zone`.
    """
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
    """Return the modification time of a file, in UTC and to the second, or None when it is unknown."""
    try:
        return datetime.fromtimestamp(int(path.lstat().st_mtime), UTC)
    except (OSError, OverflowError, ValueError):
        return None

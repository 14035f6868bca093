"""All arithmetic of dates and times: local times, calendar days, and the times that learning platforms write.

A day is a calendar day in the course's time zone, so it may have 23 or 25 hours. A local time that the clock skips
means the first moment after the gap. A local time that the clock shows twice means the later moment.
"""

import re
import unicodedata
from bisect import bisect_left
from calendar import month_abbr, month_name
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

YEARS: Final = range(1970, 3000)
"""The years of valid dates. They are far from the ends of Python's range, so that adding an extension never fails."""

DAY: Final = timedelta(days=1)
_MONTHS: Final = {"sept": 9, **{names[n].casefold(): n for names in (month_name, month_abbr) for n in range(1, 13)}}
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_CLOCK = r"(?P<H>\d\d?)(?P<sep>[-:. ]?)(?P<M>\d\d)(?:(?P=sep)(?P<S>\d\d)(?:[.,]\d{1,9})?)?(?: ?(?P<half>[ap])\.?m\.?)?"
_ZONE = r"(?: ?(?P<zone>[a-z]{1,5}))?(?: ?(?P<sign>[+-])(?P<oh>\d\d?)[-:]?(?P<om>\d\d)?)?"
_FORMS: Final = tuple(
    re.compile(f"{date}(?:[T_-]|,? (?:at )?){_CLOCK}{_ZONE}", re.ASCII | re.IGNORECASE)
    for date in (
        r"(?P<y>\d{4})(?P<dash>-?)(?P<m>\d\d)(?P=dash)(?P<d>\d\d)",  # 2026-11-20 18:03:11.501 Z, 2026-11-20-18-03-11
        rf"{_WEEKDAY}(?P<d>\d\d?)[ -](?P<m>[a-z]+)\.?,?[ -](?P<y>\d{{4}})",  # 20 November, 2026 1803
        rf"{_WEEKDAY}(?P<m>[a-z]+)\.? (?P<d>\d\d?),? (?P<y>\d{{4}})",  # Nov 20, 2026 6:03 PM
    )
)


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A date and time by the clock on the wall (`wall`, without offset) in a time zone, and its moment `utc` in UTC."""

    wall: datetime
    zone: tzinfo
    utc: datetime

    @classmethod
    def at_wall(cls, wall: datetime, zone: tzinfo) -> "LocalTime":
        """Return the local time at which the clocks of a zone show `wall`, which has no offset."""
        return cls(wall, zone, to_utc(wall, zone))

    @classmethod
    def at_utc(cls, at: datetime, zone: tzinfo) -> "LocalTime":
        """Return the local time of a moment, which has an offset."""
        return cls(at.astimezone(zone).replace(tzinfo=None, fold=0), zone, at.astimezone(UTC))

    def later(self, calendar: timedelta) -> "LocalTime":
        """Return the time at which the clock on the wall shows `calendar` more, for example two days, or less."""
        return LocalTime.at_wall(self.wall + calendar, self.zone) if calendar else self

    def after(self, elapsed: timedelta) -> "LocalTime":
        """Return the time when `elapsed` has passed."""
        return LocalTime.at_utc(self.utc + elapsed, self.zone)

    def days_until(self, at: datetime) -> int:
        """Return the number of calendar days that have begun after this time at the moment `at`, or 0 before."""
        days = max(0, (LocalTime.at_utc(at, self.zone).wall - self.wall).days - 2)  # no change of a clock is longer
        while at > self.later(days * DAY).utc:
            days += 1
        return days

    def __str__(self) -> str:
        """Return the time for people, such as `Sat 31 Oct 2026 18:00 EDT`. Seconds are left out if they are 0."""
        at = self.utc.astimezone(self.zone)
        name = at.tzname() or ""
        clock = f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"
        return f"{at:%a} {at.day} {at:%b} {at:%Y} {clock} {'UTC' * name.startswith(('+', '-'))}{name}"


@dataclass(frozen=True, slots=True)
class Extension:
    """The length of an extension: `elapsed` time for hours, else calendar time, which keeps the time of day."""

    length: timedelta
    elapsed: bool = False

    def of(self, due: LocalTime) -> LocalTime:
        """Return the extended due date."""
        return due.after(self.length) if self.elapsed else due.later(self.length)


@lru_cache(maxsize=1 << 14)  # a class has few due dates, and many attempts that are compared with them
def to_utc(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment, in UTC, at which the clocks of a zone show `wall`, which has no offset."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= second:
        return second
    start = second.replace(microsecond=0)  # in a gap, the two readings lie on different sides of the change

    def is_after(seconds: int) -> bool:
        return (start + timedelta(seconds=seconds)).astimezone(zone).replace(tzinfo=None) > wall

    return start + timedelta(seconds=bisect_left(range((first - start) // timedelta(seconds=1)), True, key=is_after))


def from_timestamp(seconds: float) -> datetime | None:
    """Return a file's time (seconds since 1970) in UTC, to the second, or None if the time cannot be right."""
    try:
        at = datetime.fromtimestamp(int(seconds), UTC)
    except (OSError, OverflowError, ValueError):
        return None
    return at if at.year in YEARS else None


def read_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the time in a text that a learning platform or a person wrote, in UTC to the second, or None.

    A time without an offset is in the time zone `zone`. A date in digits must begin with the year, and names of months
    must be English. Other texts give None, because a guess could exchange the day and the month.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    found = next(filter(None, (form.fullmatch(plain) for form in _FORMS)), None)
    if found is None:
        return None
    try:
        at = _moment(found, zone)
    except (ValueError, OverflowError):
        return None
    return at if at and at.year in YEARS else None


def _moment(found: re.Match[str], zone: tzinfo) -> datetime | None:
    month = found["m"] if found["m"].isdigit() else _MONTHS.get(found["m"].casefold(), 0)
    hour = int(found["H"])
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"] in "pP")
    wall = datetime(int(found["y"]), int(month), int(found["d"]), hour, int(found["M"]), int(found["S"] or 0))  # noqa: DTZ001
    name = (found["zone"] or "").upper()
    if found["sign"] and name in ("", "Z", "UTC", "GMT"):
        offset = timedelta(hours=int(found["oh"]), minutes=int(found["om"] or 0))
        zone = timezone(-offset if found["sign"] == "-" else offset)
    elif name in ("Z", "UTC", "GMT"):
        zone = UTC
    elif name:
        named = (wall.replace(tzinfo=zone, fold=fold) for fold in (1, 0))  # an abbreviation must fit the course's zone
        fits = next((one for one in named if (one.tzname() or "").upper() == name and not found["sign"]), None)
        return fits.astimezone(UTC) if fits else None
    return to_utc(wall, zone)

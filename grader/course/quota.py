"""A quota on the attempts at a lesson, as a bucket of tokens: each attempt takes one, and new ones come at fixed times.

The bucket is full before the first attempt. With `refill`, one token comes back at each whole multiple of this time
since the beginning of 1970 in the course's time zone, unless the bucket is full. If the time ran from each attempt
instead, a token that is given back (because the machine failed) could take away the token of a later attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from math import ceil

from grader.course.dates import LocalTime
from grader.course.entries import MOST_DAYS, Entry
from harness.rendering.units import some

MOST = 1000


@dataclass(frozen=True, slots=True)
class Quota:
    """The most attempts at a lesson, and after which time one more is allowed, or None for never."""

    attempts: int
    refill: timedelta | None = None
    zone: tzinfo = UTC

    def refills(self, at: datetime) -> int:
        """Return the number of times that a token has come since 1970."""
        return (at - self._origin) // self.refill if self.refill else 0

    def next_refill(self, at: datetime) -> datetime | None:
        """Return the first time after `at` at which a token comes, or None if none comes."""
        return self._origin + (self.refills(at) + 1) * self.refill if self.refill else None

    @property
    def _origin(self) -> datetime:
        return LocalTime.at_wall(datetime(1970, 1, 1), self.zone).utc  # noqa: DTZ001 - a time on the wall

    def __str__(self) -> str:
        """Return the quota for people, such as `3 attempts, and one more every 4 hours`."""
        again = f", and one more every {duration(self.refill)}" if self.refill else ""
        return f"{some(self.attempts, 'attempt')}{again}"

    def why_not(self, at: datetime | None) -> str:
        """Return why an attempt at this time is over the quota."""
        more = self.next_refill(at) if at else None
        early = f"came {duration(more - at)} too early" if at and more else "is over the quota"
        return f"The quota is {self}. This attempt {early}."


class TokenBucket:
    """The tokens that are left for a lesson. Ask for them in order of time. An unknown time (None) comes first."""

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._left = quota.attempts
        self._refills: int | None = None

    def left(self, at: datetime | None) -> int:
        """Return the number of tokens at a time. From the first known time on, new tokens are added."""
        if at is not None:
            now = self._quota.refills(at)
            before = now if self._refills is None else self._refills
            self._refills = max(now, before)  # a clock that was set back takes nothing away
            self._left = min(self._quota.attempts, self._left + self._refills - before)
        return self._left

    def take(self, at: datetime | None, *, costs: bool = True) -> bool:
        """Return whether an attempt is within the quota, and take its token. A free attempt always is."""
        is_within = self.left(at) > 0 or not costs
        self._left -= is_within and costs
        return is_within


def fill(quota: Quota, arrivals: Sequence[tuple[datetime | None, bool]]) -> tuple[list[bool], TokenBucket]:
    """Return which attempts are within the quota, and the bucket after them.

    `arrivals` has the time of each attempt, in order of time, and whether the attempt costs a token.
    """
    bucket = TokenBucket(quota)
    return [bucket.take(at, costs=costs) for at, costs in arrivals], bucket


def duration(length: timedelta) -> str:
    """Return a duration in hours and minutes, rounded up to minutes: `4 hours`, `1 hour 5 minutes`, `25 minutes`."""
    hours, minutes = divmod(ceil(length / timedelta(minutes=1)), 60)
    parts = [some(number, noun) for number, noun in ((hours, "hour"), (minutes, "minute")) if number]
    return " ".join(parts) or "0 minutes"


def read(entry: Entry, zone: tzinfo | None) -> Quota | None:
    """Return the quota of a table of the course file, or None without this table."""
    if not entry.is_given:
        return None
    table = entry.table("attempts", "refill_hours")
    hours = table["refill_hours"]
    refill = timedelta(hours=hours.number(0, MOST_DAYS * 24, least=0.25)) if hours.is_given else None
    if not table["attempts"].is_given:
        raise entry.wrong("attempts = 3 below it")
    return Quota(int(table["attempts"].number(0, MOST, least=1, whole=True)), refill, zone or UTC)

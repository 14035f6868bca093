"""Arithmetic of dates in every time zone, at changes of the clock, and the times that platforms write."""

from bisect import bisect
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import example, given
from hypothesis import strategies as st

from grader.course.dates import DAY, LocalTime, read_time, to_utc

NEW_YORK, SECOND = ZoneInfo("America/New_York"), timedelta(seconds=1)


def changes_of(zone: ZoneInfo, year: int) -> list[datetime]:
    """Return the UTC times, to the second, at which the zone's clock is changed in a year, or the year's begin."""

    def offset(seconds: int) -> timedelta | None:
        return (start + seconds * SECOND).astimezone(zone).utcoffset()

    start, step, changed = datetime(year, 1, 1, tzinfo=UTC), 24 * 3600, []
    for low in range(0, 366 * 24 * 3600, step):
        if offset(low) != offset(low + step):
            after = bisect(range(low, low + step), False, key=lambda at: offset(at) != offset(low))
            changed.append(start + (low + after) * SECOND)
    return changed or [start]


@st.composite
def zone_and_times(draw: st.DrawFn) -> tuple[ZoneInfo, datetime, datetime]:
    """Draw a zone, and a local and a UTC time within three days of a change of its clock."""
    zone = ZoneInfo(draw(st.sampled_from(sorted(available_timezones()))))
    change = draw(st.sampled_from(changes_of(zone, draw(st.integers(1975, 2035)))))
    near = st.integers(-7200, 7200) | st.integers(-200_000, 200_000)
    wall = LocalTime.at_utc(change - SECOND, zone).wall
    return zone, wall + draw(near) * SECOND, change + draw(near) * SECOND


def skipped(zone: str, *when: int) -> tuple[ZoneInfo, datetime, datetime]:
    """Return a zone, a local time that its clock skips or that lies a day before the gap, and two days later in UTC."""
    wall = datetime(*when, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[misc,arg-type]
    return ZoneInfo(zone), wall, wall.replace(tzinfo=UTC) + 2 * DAY


@example(skipped("Pacific/Apia", 2011, 12, 29, 18), 3)
@example(skipped("Pacific/Apia", 2011, 12, 30, 12), 1)
@example(skipped("Pacific/Kwajalein", 1993, 8, 20, 23), 2)
@example(skipped("Australia/Lord_Howe", 2026, 10, 4, 2, 15), 1)
@example(skipped("America/Santiago", 2026, 9, 6, 0, 30), 1)
@example(skipped("Asia/Beirut", 2026, 3, 29, 0, 30), 1)
@given(zone_and_times(), st.integers(0, 5))
def test_lateness_follows_the_clock_of_every_zone(drawn: tuple[ZoneInfo, datetime, datetime], more: int) -> None:
    zone, wall, at = drawn
    due = LocalTime.at_wall(wall, zone)
    last = due.later(more * DAY)
    assert due.days_until(due.utc) == 0
    assert due.days_until(last.utc) <= more
    assert due.days_until(last.utc + SECOND) == more + 1 or last.utc == due.later((more + 1) * DAY).utc
    assert due.days_until(at) <= due.days_until(at + timedelta(seconds=more))
    assert last.days_until(at) == max(0, due.days_until(at) - more), "an extension takes its days off"
    assert last.wall - due.wall == more * DAY


@given(zone_and_times())
def test_a_local_time_is_its_last_moment_or_the_first_after_a_gap(drawn: tuple[ZoneInfo, datetime, datetime]) -> None:
    zone, wall, at = drawn
    found = to_utc(wall, zone)
    before, shown, after = (LocalTime.at_utc(found + n * SECOND, zone).wall for n in (-1, 0, 7200))
    assert (shown == wall != after) or before < wall < shown, "the last that is shown, or the first after a gap"
    local = LocalTime.at_utc(at, zone)
    assert to_utc(local.wall, zone) >= at
    assert LocalTime.at_utc(to_utc(local.wall, zone), zone).wall == local.wall


READ = """
18:03:11 | 2026-11-20 18:03:11.501 Z
01:03:11 | 2026-11-19T18:03:11.365935-07:00
02:03:11 | 2026-11-19 18:03:11 -0800
02:03:00 | 2026-11-19T18:03-08
22:59:00 | 20261120T225900Z
17:03:00 | 2026-11-20 18:03 GMT+1
05:03:00 | 20 Nov 2026, 12:03 AM
23:03:00 | 20 November, 2026 1803 | Nov 20, 2026 6:03 PM | Nov 20 2026 603 PM | Fri, Nov. 20, 2026 at 6:03 p.m.
23:03:00 | Friday, 20 November 2026, 6:03\u202fPM | Friday, 20 November 2026, 18:03
23:03:11 | 2026-11-20-18-03-11 | Friday, November 20, 2026 6:03:11 PM EST
no | 20 novembre 2026 18:03 | marraskuu 20, 2026 18:03 | 11/20/2026 6:03 PM | 20/11/2026 18:03 | 2026-11-20 | |
no | Nov 20, 2026 18:03 PM | Nov 20, 2026 6:03 PM PST | 2026-02-30T00:00 | 2026-11-20T18:03+25:00 | 20261120180311
no | 9999-12-31T23:59 | 0001-01-01T00:00 | 99999999999999999999
"""


def test_times_of_platforms_are_read_and_day_and_month_are_never_guessed() -> None:
    for row in READ.strip().splitlines():
        clock, *texts = row.split(" | ")
        for text in texts:
            found = read_time(text, NEW_YORK)
            assert (f"{found:%F %T}" if found else "no") == ("no" if clock == "no" else f"2026-11-20 {clock}"), text
    for abbreviation, hour in (("", 6), (" EST", 6), (" EDT", 5)):
        found = read_time(f"Sunday, November 1, 2026 1:30 AM{abbreviation}", NEW_YORK)
        assert found == datetime(2026, 11, 1, hour, 30, tzinfo=UTC)

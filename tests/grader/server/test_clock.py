"""The server's clock after the machine's clock was set back."""

from datetime import UTC, datetime, timedelta

from grader.server.clock import ServerClock


def test_a_clock_that_was_set_back_gives_no_earlier_time_and_is_reported() -> None:
    last = datetime.now(UTC) + timedelta(hours=2)
    clock = ServerClock.after(last)
    assert last <= clock.now() < last + timedelta(minutes=5)
    assert "2 h" in clock.problem
    assert not ServerClock.after(None).problem
    assert not ServerClock.after(datetime.now(UTC) - timedelta(days=1)).problem

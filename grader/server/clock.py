"""The server's clock: UTC times that never go back, also if the machine's clock is set back."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from harness.rendering import units

_SAME: Final = timedelta(minutes=1)  # clocks that differ by less do not matter
_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # also counts while the machine sleeps


def _elapsed() -> timedelta:
    return timedelta(seconds=time.clock_gettime(_ELAPSED))


@dataclass(frozen=True, slots=True)
class ServerClock:
    """The time at the server's start, plus the time that has passed since then. `start` is a time with an offset."""

    start: datetime = field(default_factory=lambda: datetime.now(UTC))
    _began: timedelta = field(default_factory=_elapsed)

    def now(self) -> datetime:
        """Return the time in UTC."""
        return self.start + (_elapsed() - self._began)

    @property
    def problem(self) -> str:
        """Why the times of hand-ins may be wrong, or "". The machine's clock may be wrong now, or was wrong before."""
        ahead = self.start - datetime.now(UTC)
        if ahead < _SAME:
            return ""
        return (
            f"The clock of this machine is {units.seconds(ahead.total_seconds())} behind the time of the last hand-in. "
            "Until it is right, new hand-ins get a time after the last one. Set the clock, and start the server again."
        )

    @classmethod
    def after(cls, last: datetime | None) -> "ServerClock":
        """Return a clock that starts now, or at `last` if the machine's clock is set to an earlier time."""
        return cls(max(datetime.now(UTC), last) if last else datetime.now(UTC))

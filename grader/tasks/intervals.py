"""The record of a measurement on a simulated machine: calls between readings of the clock, and causes of added time.

Wrong answers are explained from this record alone, because students make different mistakes in the same scenario.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum


class AddedTime(StrEnum):
    """A cause that makes an interval between two clock readings longer or shorter than the calls in it.

    Each text follows a duration, as in "3 ms went to interruptions".
    """

    INTERRUPTED = "went to interruptions"
    TAKEN = "went to other programs that used the device"
    FIRST_CALLS = "went to slow first calls"
    MAKING = "went to making lists"
    EARLIER = "went to work that was launched before the first reading"
    UNFINISHED = "are missing, because the device was still working at the last reading of the clock"
    SORTED = "are missing, because calls got lists that were sorted already"


@dataclass(frozen=True, slots=True)
class ClockInterval:
    """The calls between two readings of the clock, and the causes of added time.

    `calls` counts calls of the measured function, and `waits` calls of synchronize. Each of the `parts` is a cause and
    the seconds that it added, negative if it shortened the interval.
    """

    start_s: float
    end_s: float
    calls: int
    waits: int = 0
    parts: tuple[tuple[AddedTime, float], ...] = ()

    @property
    def shown_s(self) -> float:
        """The difference of the two clock readings, in seconds."""
        return self.end_s - self.start_s

    @property
    def added_s(self) -> float:
        """The sum of all added seconds, without the negative ones."""
        return sum(seconds for _, seconds in self.parts if seconds > 0)


@dataclass
class CallRecorder:
    """Records the intervals between readings of a clock. Empty intervals in a row are merged into one."""

    intervals: list[ClockInterval] = field(default_factory=list)
    readings: int = 0
    calls: int = 0
    _last_s: float = 0.0
    _calls: int = 0
    _waits: int = 0
    _parts: Counter[AddedTime] = field(default_factory=Counter)

    def called(self) -> None:
        """Count a call of the measured function."""
        self.calls += 1
        self._calls += 1

    def waited(self) -> None:
        """Count a call of synchronize."""
        self._waits += 1

    def add(self, part: AddedTime, seconds: float) -> None:
        """Record that a cause added these seconds to the current interval."""
        self._parts[part] += seconds  # type: ignore[assignment]  # a Counter adds up floats as well

    def read(self, shown_s: float) -> None:
        """End the current interval with a reading of the clock, and begin the next."""
        if self.readings:
            parts = tuple((part, seconds) for part, seconds in self._parts.items() if seconds)
            one = ClockInterval(self._last_s, shown_s, self._calls, self._waits, parts)
            if _idle(one) and self.intervals and _idle(self.intervals[-1]):
                self.intervals[-1] = replace(self.intervals[-1], end_s=shown_s)
            else:
                self.intervals.append(one)
        self.readings += 1
        self._last_s, self._calls, self._waits = shown_s, 0, 0
        self._parts = Counter()


def blocks(intervals: list[ClockInterval]) -> list[ClockInterval]:
    """Return the intervals that contain calls of the measured function."""
    return [one for one in intervals if one.calls]


def _idle(interval: ClockInterval) -> bool:
    return not (interval.calls or interval.waits or interval.parts)

"""What a simulated machine saw of a measurement: the calls between two readings of the clock, and what added to them.

An explanation of a wrong answer rests on this record alone. Another student may meet the same world and make another
mistake, so what is special about a world explains nothing.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Part(StrEnum):
    """What makes an interval longer or shorter than its calls are, in words that follow a duration."""

    INTERRUPTED = "went to interruptions"
    TAKEN = "went to others, who used the device"
    FIRST_CALLS = "went to slow first calls"
    MAKING = "went to making lists"
    EARLIER = "went to work that was launched before the first reading"
    UNFINISHED = "are missing, because the device was still at work when the clock was read last"
    SORTED = "are missing, because calls were given lists that were sorted already"


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened from one reading of the clock to another.

    `calls` counts calls of the measured function, `waits` calls of synchronize. Each of the `parts` is the seconds that
    something added to the undisturbed time of the calls; negative where it made the interval shorter.
    """

    start_s: float
    end_s: float
    calls: int
    waits: int = 0
    parts: tuple[tuple[Part, float], ...] = ()

    @property
    def shown_s(self) -> float:
        """The difference of the two readings."""
        return self.end_s - self.start_s

    @property
    def added_s(self) -> float:
        """The sum of the parts that made it longer."""
        return sum(seconds for _, seconds in self.parts if seconds > 0)


@dataclass
class Recorder:
    """Cuts what a world sees into intervals. Readings in a row without anything in between count as one interval."""

    intervals: list[Interval] = field(default_factory=list)
    readings: int = 0
    calls: int = 0
    _last_s: float = 0.0
    _calls: int = 0
    _waits: int = 0
    _parts: Counter[Part] = field(default_factory=Counter)

    def called(self) -> None:
        """Count a call of the measured function."""
        self.calls += 1
        self._calls += 1

    def waited(self) -> None:
        """Count a call of synchronize."""
        self._waits += 1

    def add(self, part: Part, seconds: float) -> None:
        """Note that something added so many seconds to the present interval."""
        self._parts[part] += seconds  # type: ignore[assignment]  # a Counter adds up floats as well

    def read(self, shown_s: float) -> None:
        """End the present interval with a reading of the clock, and begin the next."""
        if self.readings:
            parts = tuple((part, seconds) for part, seconds in self._parts.items() if seconds)
            one = Interval(self._last_s, shown_s, self._calls, self._waits, parts)
            if _idle(one) and self.intervals and _idle(self.intervals[-1]):
                self.intervals[-1] = replace(self.intervals[-1], end_s=shown_s)
            else:
                self.intervals.append(one)
        self.readings += 1
        self._last_s, self._calls, self._waits = shown_s, 0, 0
        self._parts = Counter()


def blocks(intervals: list[Interval]) -> list[Interval]:
    """Return the intervals with calls in them."""
    return [one for one in intervals if one.calls]


def _idle(interval: Interval) -> bool:
    return not (interval.calls or interval.waits or interval.parts)

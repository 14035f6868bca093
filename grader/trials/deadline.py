"""The time limit of a request to a process that runs a submission.

The limit is CPU time, so that load of other programs does not end honest work. A multiple of it on the wall clock also
ends the request, because a process that sleeps uses no CPU time. Wall time above the CPU time limit is subtracted from
that of later requests, so a submission cannot sleep in each of a hundred requests. All requests of a hand-in together
have one limit on the wall clock (`limits.HandInTime`), so thousands of short requests cannot hold a core for hours.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from grader.limits import HandInTime
from harness.machine.clocks import Clock, wall

ANSWERED_S: Final = 0.02
"""For each message, up to this many seconds of waiting do not count: the grader itself may have waited for a core."""
MOST_FORGIVEN: Final = 9
"""The most time that does not count in a request, as a multiple of the request's wall time limit."""


@dataclass
class Deadline:
    """The time limits of one request, which begins when this object is created.

    The request may use `allowed_s` seconds on the clock `cpu`, and on the clock `now` `wall_factor` times as many,
    minus `slept_s`, the excess of earlier requests. `time` limits all requests of a hand-in, and adds up their time
    without that on the clock `waited`, in which the process waited for its core. A submission can lengthen this waiting
    only with threads that compute, so at least their CPU time is added.
    """

    allowed_s: float
    wall_factor: float
    cpu: Clock
    now: Clock = wall
    slept_s: float = 0.0
    time: HandInTime = field(default_factory=lambda: HandInTime(math.inf))
    waited: Clock = lambda: 0.0

    def __post_init__(self) -> None:
        self._began_s, self._used_s, self._undisturbed_s = self.now(), self.cpu(), wall() - self.waited()
        self._forgiven_s = 0.0

    @property
    def wall_s(self) -> float:
        """The wall seconds that the request may take, without the time that `forgive` excludes."""
        return max(self.allowed_s, self.allowed_s * self.wall_factor - self.slept_s)

    @property
    def left_s(self) -> float:
        """The wall seconds that are left for the request, or 0 if none are left."""
        return max(0.0, min(self.wall_s - self._taken_s(), self.time.left_s))

    @property
    def passed(self) -> bool:
        """Whether a time limit is used up. An exception of the CPU clock is not caught."""
        return self.cpu() - self._used_s >= self.allowed_s or not self.left_s

    def forgive(self, waited_s: float, answering_s: float = 0.0) -> None:
        """Do not count these seconds: a short wait for a message, and the grader's own time to answer it."""
        forgiven_s = self._forgiven_s + min(waited_s, ANSWERED_S) + answering_s
        self._forgiven_s = min(forgiven_s, MOST_FORGIVEN * self.wall_s)

    def ended(self) -> float:
        """End the request, and return `slept_s` of the next one: the seconds beyond the CPU limit in all requests."""
        self.time.own_s += max(self.cpu() - self._used_s, wall() - self.waited() - self._undisturbed_s)
        return self.slept_s + max(0.0, self._taken_s() - self.allowed_s)

    def _taken_s(self) -> float:
        return self.now() - self._began_s - self._forgiven_s

    def __str__(self) -> str:
        return f"{self.allowed_s:g} s of computing" if self.left_s else f"{self.wall_s:.3g} s"

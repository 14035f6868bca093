"""How long an answer is waited for: by what its process tree computes, not by what its neighbours do.

A request may use so many seconds of CPU time. Whoever sleeps, or has stopped, uses none; so some times that on the wall
is the end of it, too. On a crowded machine honest work takes longer on the wall and no more of the CPU, and keeps its
grade.
"""

from dataclasses import dataclass, field

from harness.clocks import Clock, wall


@dataclass
class Deadline:
    """The end of one request, counted from now.

    `allowed_s` is in CPU seconds on the clock `cpu`; `patience` times that may pass on `now`. The CPU clock is read for
    the first time when `passed` is asked for the first time, so that a short call costs no reading.
    """

    allowed_s: float
    patience: float
    cpu: Clock
    now: Clock = wall
    _began_s: float = field(init=False)
    _used_s: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._began_s = self.now()

    @property
    def wall_s(self) -> float:
        """Seconds of the wall clock that the request may take."""
        return self.allowed_s * self.patience

    @property
    def left_s(self) -> float:
        """Seconds left on the wall clock; none when it has passed."""
        return max(0.0, self._began_s + self.wall_s - self.now())

    @property
    def passed(self) -> bool:
        """Whether either has been used up. Raises what the CPU clock raises."""
        used_s = self.cpu()
        if self._used_s is None:
            self._used_s = used_s
        return used_s - self._used_s >= self.allowed_s or not self.left_s

    def __str__(self) -> str:
        """What it is in words; which of the two has passed, at the end."""
        return f"{self.allowed_s:g} s of computing" if self.left_s else f"{self.wall_s:g} s"

"""How long an answer is waited for: by what its process tree computes, not by what its neighbours do.

A request may use so many seconds of CPU time. Whoever sleeps, or has stopped, uses none; so some times that on the wall
is the end of it, too. On a crowded machine honest work takes longer on the wall and no more of the CPU, and keeps its
grade. What a worker has taken on the wall beyond what is allowed is taken off that patience for its later requests, so
that sleeping a little less than the wall in each of a hundred of them does not pay.

All requests of a task together have a bound of their own on the wall (`Limits.together_s`), from which nothing is
forgiven but what the supervisor itself took to answer. So thousands of requests that each stay below their limit do
not hold a lane for hours.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from harness.clocks import Clock, wall

ANSWERED_S: Final = 0.02
"""How long the next word of a worker that asks questions may take at no cost to it: its supervisor waits for a core."""

MOST_FORGIVEN: Final = 9
"""What all questions of a request may take so, at most, as a multiple of what it may take on the wall without them."""


@dataclass
class Deadline:
    """The end of one request, counted from now.

    `allowed_s` is in CPU seconds on the clock `cpu`; `patience` times that may pass on `now`, less `slept_s`, what
    earlier requests have taken beyond what they were allowed. `together_s` is what is left on `now` of the bound on all
    requests. The CPU clock is read for the first time when `passed` is asked for the first time, so that a short call
    costs no reading.
    """

    allowed_s: float
    patience: float
    cpu: Clock
    now: Clock = wall
    slept_s: float = 0.0
    together_s: float = math.inf
    _began_s: float = field(init=False)
    _used_s: float | None = field(init=False, default=None)
    _forgiven_s: float = field(init=False, default=0.0)
    _answering_s: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._began_s = self.now()

    @property
    def wall_s(self) -> float:
        """Seconds of the wall clock that the request may take, without its questions."""
        return max(self.allowed_s, self.allowed_s * self.patience - self.slept_s)

    @property
    def left_s(self) -> float:
        """Seconds left on the wall clock; none when it has passed."""
        return max(0.0, min(self.wall_s - self._taken_s(), self.together_s - self.waited_s))

    @property
    def waited_s(self) -> float:
        """Seconds of the wall clock that the worker has been waited for."""
        return self.now() - self._began_s - self._answering_s

    @property
    def all_passed(self) -> bool:
        """Whether the bound on all requests has been used up."""
        return self.waited_s >= self.together_s

    @property
    def passed(self) -> bool:
        """Whether either has been used up. Raises what the CPU clock raises."""
        used_s = self.cpu()
        if self._used_s is None:
            self._used_s = used_s
        return used_s - self._used_s >= self.allowed_s or not self.left_s

    def forgive(self, waited_s: float, answering_s: float = 0.0) -> None:
        """Take no account of a short wait for the worker's next word, and of what answering the last one took us."""
        self._answering_s += answering_s
        forgiven_s = self._forgiven_s + min(waited_s, ANSWERED_S) + answering_s
        self._forgiven_s = min(forgiven_s, MOST_FORGIVEN * self.wall_s)

    def ended(self) -> float:
        """`slept_s` for the next request, when this one has ended."""
        return self.slept_s + max(0.0, self._taken_s() - self.allowed_s)

    def _taken_s(self) -> float:
        return self.now() - self._began_s - self._forgiven_s

    def __str__(self) -> str:
        """What it is in words; which of the two has passed, at the end."""
        return f"{self.allowed_s:g} s of computing" if self.left_s else f"{self.wall_s:.3g} s"

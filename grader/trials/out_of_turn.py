"""CPU time that a submission's processes use while it is not their turn.

A submission's threads run on the core of its duel. What they compute during a turn of the baseline, or during the
control, takes the core and its caches from the baseline, so that the duel says nothing and is void. This time is read
on the CPU clocks of all processes of the submission's tree, also of workers that have played before.

Honest code uses a little of it: a worker sends its answer and only then goes to sleep, and so do the threads that
helped it. Submissions of `tests/honest` used up to 0.1 % of the time, also those with threads. A single thread that
never rests used at least 16 % (2 busy cores, Linux 6.18).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from grader.errors import WorkerFault
from grader.records import Status
from grader.trials.faults import untrusted
from harness.clocks import Clock, wall
from harness.units import seconds

SLACK_PART: Final = 0.05
"""Part of the time out of turn that a submission may compute."""

SLACK_S: Final = 0.005
"""CPU seconds that it may compute beyond that: a few turns say little."""


@dataclass
class OutOfTurn:
    """Adds up what the clock `cpu` of a submission's tree counts while others have their turns."""

    cpu: Clock
    now: Clock = wall
    used_s: float = 0.0
    watched_s: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let others have their turn. Raises a `WorkerFault` when the submission has computed too much of the time."""
        began_s, had_s = self.now(), self._read()
        yield
        self.used_s += self._read() - had_s
        self.watched_s += self.now() - began_s
        if self.used_s > SLACK_S + SLACK_PART * self.watched_s:
            said = (
                f"The submission kept computing while it was not its turn: for {seconds(self.used_s)} of "
                f"{seconds(self.watched_s)} in which only the baseline should have run."
            )
            help_text = (
                "Compute in the call alone: let your threads end, or let them wait, before you return the answer."
            )
            raise WorkerFault(Status.CRASHED, said, help_text)

    def _read(self) -> float:
        with untrusted("the submission"):
            return self.cpu()

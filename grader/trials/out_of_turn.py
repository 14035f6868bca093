"""Detect a submission that computes while only the baseline is measured, in order to slow the baseline down.

The submission and the baseline (the simple function that submissions are compared with) run alternately on the same
core. The grading ends if the submission's processes use too much CPU time in the baseline's turns.

Honest code uses a little CPU time then: a process and its threads still run for a moment after an answer. Submissions
of `tests/honest`, with and without threads, used up to 0.1 % of the watched time. A single thread that never sleeps
used at least 16 % of it (2 busy cores, Linux 6.18).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from grader.errors import WorkerFault
from grader.records import Status
from grader.trials.faults import untrusted
from harness.machine.clocks import Clock, wall
from harness.rendering.units import seconds

SLACK_PART: Final = 0.05
"""The largest share of the baseline's measuring time in which a submission may compute."""

SLACK_S: Final = 0.005
"""CPU seconds that a submission may use in addition to the share `SLACK_PART`, because measuring times may be short."""


@dataclass
class OutOfTurn:
    """The CPU time that a submission uses while only the baseline should run.

    `cpu` reads the CPU seconds of the submission's processes. They used `used_s` of them in `watched_s` wall seconds in
    which only the baseline should have run.
    """

    cpu: Clock
    now: Clock = wall
    used_s: float = 0.0
    watched_s: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measure and sum up the CPU time that the submission uses in the `with` block.

        Raise `WorkerFault` if the sum is too large.
        """
        began_s, had_s = self.now(), self._read()
        yield
        self.used_s += self._read() - had_s
        self.watched_s += self.now() - began_s
        if self.used_s > SLACK_S + SLACK_PART * self.watched_s:
            said = (
                f"The submission kept computing while it was not its turn: for {seconds(self.used_s)} of "
                f"{seconds(self.watched_s)} in which only the baseline should have run."
            )
            help_text = "Compute only during a call: let your threads end or wait before you return the answer."
            raise WorkerFault(Status.CRASHED, said, help_text)

    def _read(self) -> float:
        with untrusted("the submission"):
            return self.cpu()

"""Errors of the grader. Their types state whether the user, the submission or the grader is to blame."""

from grader.records import Status
from harness.errors import FairclockError, MachineError, UsageError

__all__ = ["FairclockError", "GraderFault", "MachineError", "NoisyMachineError", "UsageError", "WorkerFault"]


class GraderFault(Exception):  # noqa: N818 - named like `WorkerFault`
    """An internal error, for example because a baseline solution is wrong. The student is never to blame."""


class NoisyMachineError(MachineError):
    """A time cannot be measured, because other programs disturb this machine too much. Later, it may be possible."""


class WorkerFault(Exception):  # noqa: N818 - it is the submission's fault, not an internal error
    """A submission ended the grading of a task: it raised an exception, hung, crashed, or sent invalid messages.

    `status` is the task's status. `printed` is the end of the submission's output. It is set when its process has
    ended. `never_loads` is True if the file could not be loaded in time, so that no other task needs to wait for it.
    """

    def __init__(self, status: Status, rationale: str, help_text: str = "") -> None:
        super().__init__(rationale)
        self.status = status
        self.rationale = rationale
        self.help = help_text
        self.printed = ""
        self.never_loads = False

"""Errors of the grader.

The message of a `FairclockError` explains what to do. A `GraderFault` is an internal error. A `WorkerFault` ends the
grading of one task, and the submission is to blame.
"""

from grader.records import Status
from harness.errors import FairclockError, MachineError, UsageError

__all__ = ["FairclockError", "GraderFault", "MachineError", "UsageError", "WorkerFault"]


class GraderFault(Exception):  # noqa: N818 - named like `WorkerFault`
    """The kit itself failed, for example because a baseline is wrong. The student is never to blame."""


class WorkerFault(Exception):  # noqa: N818 - it is the submission's fault, not an internal error
    """A submission ended the grading of a task: it raised an exception, hung, crashed, or broke the protocol.

    `status` is the task's status. `printed` is the end of the submission's output. It is set when the worker is closed.
    """

    def __init__(self, status: Status, rationale: str, help_text: str = "") -> None:
        super().__init__(rationale)
        self.status = status
        self.rationale = rationale
        self.help = help_text
        self.printed = ""

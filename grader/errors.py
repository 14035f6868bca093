"""Errors of the grader. Those a person can act on are `FairclockError`s; a submission's own end is a `WorkerFault`."""

from grader.records import Status
from harness.errors import FairclockError, MachineError, UsageError

__all__ = ["FairclockError", "GraderFault", "MachineError", "UsageError", "WorkerFault"]


class GraderFault(Exception):  # noqa: N818 - named like its sibling
    """The kit itself failed (a wrong baseline, a lost worker): never the student's fault."""


class WorkerFault(Exception):  # noqa: N818 - it is the submission's fault, not an error of ours
    """A submission ended its own grading: it raised, hung, died, or broke the protocol. Carries its status.

    `printed` is the end of what it had printed, filled in when its worker is closed.
    """

    def __init__(self, status: Status, rationale: str, help_text: str = "") -> None:
        super().__init__(rationale)
        self.status = status
        self.rationale = rationale
        self.help = help_text
        self.printed = ""

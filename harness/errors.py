"""The errors that people see: one sentence saying what happened and what to do next.

Every error of the kit derives from `FairclockError`; a command prints it as one line and exits with its code.
Anything else that escapes is a fault of ours.
"""


class FairclockError(Exception):
    """A problem the reader can act on. `str()` of it is the whole message."""

    exit_code = 2


class MachineError(FairclockError):
    """This machine lacks something; the message carries the command that brings it."""


class UsageError(FairclockError):
    """What was asked for does not exist or does not fit; the message says what does."""

"""What `doctor` says about one part of the machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the machine: whether it is as it should be, what was found, and what to do when it is not.

    Without a `needed` part other people's code is not graded.
    """

    part: str
    present: bool
    found: str
    fix: str = ""
    needed: bool = False

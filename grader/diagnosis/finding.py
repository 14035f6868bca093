"""The result of one check of `doctor`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of the check of one part of the machine.

    `present` is True if the part works. `found` describes what was found. `fix` is advice if the part does not work.
    The grader runs other people's code only if every `needed` part works.
    """

    part: str
    present: bool
    found: str
    fix: str = ""
    needed: bool = False

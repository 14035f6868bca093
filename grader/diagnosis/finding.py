"""The class for the result of checking one part of the machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one part of the machine.

    `present` is True if the part works. `found` describes the part, and `fix` is advice if it does not work. The grader
    refuses to grade unless every `needed` part works.
    """

    part: str
    present: bool
    found: str
    fix: str = ""
    needed: bool = False

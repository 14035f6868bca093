"""A class that describes one security layer of a sandbox for reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecurityLayer:
    """One security layer of a sandbox, such as seccomp.

    `found` describes the active layer, or why it is missing. `fix` is advice for the user if it is missing.
    """

    name: str
    active: bool
    found: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.found}"

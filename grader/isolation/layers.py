"""The layers that a sandbox is made of, one by one: which of them this machine has, and why it lacks the others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: what it is there for, what was found, and what brings it where it is missing."""

    name: str
    active: bool
    found: str
    fix: str = ""

    def __str__(self) -> str:
        """As reports name it."""
        return f"{self.name}: {self.found}"

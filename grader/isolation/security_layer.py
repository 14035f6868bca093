"""The description of one layer of a sandbox, for reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecurityLayer:
    """One layer of a sandbox. `found` describes how it is active or why it is missing; `fix` is for a missing layer."""

    name: str
    active: bool
    found: str
    fix: str = ""

    def __str__(self) -> str:
        """Return the layer's name and `found`, as reports print it."""
        return f"{self.name}: {self.found}"

"""The machine as it is today: what it is, and how far the same code measured twice comes out apart on it."""

from dataclasses import dataclass

from harness.environment import Environment
from harness.noise import aa_control

CONTROL_S = 0.4
FAST_CONTROL_S = 0.2
"""How long the A/A control of a usual and of a short run may take."""


@dataclass(frozen=True, slots=True)
class Today:
    """A machine and its A/A control.

    `noise` is the fraction that 95 % of plain comparisons of equals stay below; `mood` says it in words.
    """

    environment: Environment
    noise: float
    mood: str

    @classmethod
    def measure(cls, *, fast: bool = False) -> "Today":
        """Describe the machine and run the A/A control."""
        control = aa_control(budget_s=FAST_CONTROL_S if fast else CONTROL_S)
        return cls(Environment.capture(), control.naive_p95, str(control))

    def describe(self) -> str:
        """Return the line under a lesson's title."""
        return f"{self.environment.describe()} · {self.mood}"

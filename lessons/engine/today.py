"""The machine as it is today: what it is, and how far the same code measured twice comes out apart on it."""

from dataclasses import dataclass

from harness.environment import Environment
from harness.errors import UsageError
from harness.noise import aa_control

CONTROL_S = 0.4
FAST_CONTROL_S = 0.2
"""How long the A/A control of a usual and of a short run may take."""

HOPELESS = 10.0
"""The noise of a machine too busy even for the control: any comparison may err by a factor of ten."""


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
        try:
            control = aa_control(budget_s=FAST_CONTROL_S if fast else CONTROL_S)
        except UsageError:  # no window of the record held two blocks: each was interrupted
            return cls(Environment.capture(), HOPELESS, "too busy to compare the same code with itself")
        return cls(Environment.capture(), control.naive_p95, str(control))

    def describe(self) -> str:
        """Return the line under a lesson's title."""
        return f"{self.environment.describe()} · {self.mood}"

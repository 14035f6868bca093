"""The conditions of a run: the machine and its noise, measured by comparing a function with itself (A/A control)."""

from dataclasses import dataclass

from harness.errors import UsageError
from harness.machine.environment import Environment
from harness.paired.noise import aa_control

CONTROL_S = 0.4
FAST_CONTROL_S = 0.2
"""The seconds for which a short run of a lesson compares a function with itself. A usual run takes `CONTROL_S`."""

TOO_BUSY = 10.0
"""The noise that is assumed if the machine is too busy to measure it. A comparison may be wrong by a factor of about
ten."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The machine and its noise, which is measured by comparing a function with itself (A/A control).

    `noise` is a fraction. In 95 % of unpaired comparisons, the two times of the function differ by less than `noise`.
    `noise_text` describes the noise as text.
    """

    environment: Environment
    noise: float
    noise_text: str

    @classmethod
    def measure(cls, *, fast: bool = False) -> "Conditions":
        """Measure the noise by comparing a function with itself, and return it with a description of the machine."""
        try:
            control = aa_control(budget_s=FAST_CONTROL_S if fast else CONTROL_S)
        except UsageError:  # each block of the control was interrupted
            return cls(Environment.capture(), TOO_BUSY, "too busy to compare a function with itself")
        return cls(Environment.capture(), control.unpaired_p95, str(control))

    def describe(self) -> str:
        """Return the line about the machine and its noise that a lesson prints below its title."""
        return f"{self.environment.describe()} · {self.noise_text}"
